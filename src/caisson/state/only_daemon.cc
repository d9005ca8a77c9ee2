#include "caisson/state/only_daemon.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "caisson/os/folder_lock.h"

namespace caisson::state {
namespace {

constexpr const char* kName = "daemon.lock";

// The decimal number at the beginning of the file, empty when there is none: its holder has not written it yet.
std::string HolderOf(const os::Fd& file) {
  std::array<char, 16> text{};
  const ssize_t size = pread(file.get(), text.data(), text.size(), 0);
  std::string holder;
  for (ssize_t i = 0; i < size; ++i) {
    const char character = text[static_cast<std::size_t>(i)];
    if (character < '0' || character > '9') break;
    holder.push_back(character);
  }
  return holder;
}

Error Taken(const os::Fd& folder, const std::string& holder) {
  const std::string who = holder.empty() ? "another process" : "process " + holder;
  return Error(Code::kConflict, "another daemon uses " + os::PathOf(folder))
      .Because(who + " holds the lock of " + kName + " there")
      .Remedy(holder.empty() ? "use that daemon, or stop it first"
                             : "use that daemon, or stop process " + holder + " first")
      .Detail("pid", holder);
}

Status WriteHolder(const os::Fd& file) {
  if (ftruncate(file.get(), 0) != 0) return Fail(Error::FromErrno(errno, "cannot empty daemon.lock"));
  if (auto written = os::WriteAll(file.get(), std::to_string(getpid()) + "\n"); !written) {
    return Fail(std::move(written).error().Context("writing daemon.lock"));
  }
  return {};
}

}  // namespace

Result<OnlyDaemon> OnlyDaemon::Take(const os::Fd& folder) {
  // A file that somebody replaced between opening and locking it is no lock; one that is replaced again and again is
  // somebody's mischief.
  for (int attempt = 0; attempt < 10; ++attempt) {
    os::Fd file(openat(folder.get(), kName, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    if (!file.valid()) return Fail(Error::FromErrno(errno, "cannot open " + os::PathOf(folder) + "/" + kName));
    if (auto locked = os::Lock(file, LOCK_EX | LOCK_NB); !locked) {
      if (locked.error().errno_value() == EWOULDBLOCK) return Fail(Taken(folder, HolderOf(file)));
      return Fail(std::move(locked).error());
    }
    if (!os::IsStillAt(file, folder, kName)) continue;
    CAISSON_CHECK_OK(WriteHolder(file));
    return OnlyDaemon(std::move(file));
  }
  return Fail(Error(Code::kConflict, std::string("somebody keeps replacing ") + kName + " in " + os::PathOf(folder)));
}

}  // namespace caisson::state
