#include "caisson/launcher/input_wait.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "caisson/base/deadline.h"
#include "caisson/os/blocked_call.h"

namespace caisson::launcher {
namespace {

constexpr int kMostProcesses = 64;
constexpr std::chrono::milliseconds kPatience{5};

// Source: Documentation/admin-guide/devices.txt of the kernel.
constexpr unsigned kTerminalMajor = 136;  // /dev/pts/N
constexpr unsigned kAliasMajor = 5;       // /dev/tty, whichever terminal controls the process
constexpr unsigned kAliasMinor = 0;

bool IsInput(const os::Fd& process, int descriptor, const plan::CommandInput& input) {
  const std::string link = "fd/" + std::to_string(descriptor);
  struct statx info{};
  // What the kernel knows already: a file of a network must not keep the launcher.
  if (statx(process.get(), link.c_str(), AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &info) != 0) return false;
  if (input.kind == plan::InputKind::kPipe) return S_ISFIFO(info.stx_mode) && info.stx_ino == input.number;
  if (!S_ISCHR(info.stx_mode)) return false;
  return (info.stx_rdev_major == kTerminalMajor && info.stx_rdev_minor == input.number) ||
         (info.stx_rdev_major == kAliasMajor && info.stx_rdev_minor == kAliasMinor);
}

bool ProcessWaits(std::string_view pid, const plan::CommandInput& input) {
  // The launcher's own proc: its numbers are those that the cgroup file shows it.
  const os::Fd process(open(("/proc/" + std::string(pid)).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!process.valid()) return false;
  const auto call = os::BlockedCallOf(process);
  const auto descriptor = call ? os::AwaitedDescriptor(*call) : std::nullopt;
  return descriptor && IsInput(process, *descriptor, input);
}

bool IsPid(std::string_view line) {
  return !line.empty() && line != "0" && line.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

bool WaitsForInput(const os::Fd& processes, const plan::CommandInput& input) {
  const Deadline deadline = Deadline::In(kPatience);
  std::array<char, 1024> buffer;
  const ssize_t n = pread(processes.get(), buffer.data(), buffer.size(), 0);
  std::string_view text(buffer.data(), n < 0 ? 0 : static_cast<std::size_t>(n));
  text = text.substr(0, text.rfind('\n') + 1);  // the last number may have been cut
  for (int i = 0; i < kMostProcesses && !text.empty() && !deadline.Passed(); ++i) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + 1);
    if (IsPid(line) && ProcessWaits(line, input)) return true;
  }
  return false;
}

}  // namespace caisson::launcher
