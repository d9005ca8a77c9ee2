#include "caisson/guest/image_setup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>

#include "caisson/os/fd.h"

namespace caisson::guest {
namespace {

constexpr std::size_t kMaxUserFile = 1U << 20U;
constexpr unsigned kAgent = 1000;

Status MakeFolder(const char* path, mode_t mode, unsigned owner) {
  if (mkdir(path, mode) != 0 && errno != EEXIST) return Fail(Error::FromErrno(errno, std::string("make ") + path));
  const os::Fd folder(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.valid()) return Fail(Error::FromErrno(errno, std::string("open ") + path));
  if (fchown(folder.get(), owner, owner) != 0 || fchmod(folder.get(), mode) != 0) {
    return Fail(Error::FromErrno(errno, std::string("prepare ") + path));
  }
  return {};
}

// True when a line of the file names `agent` or has its number in the third field.
bool NamesAgent(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with("agent:")) return true;
    const std::size_t second = line.find(':', line.find(':') + 1);
    if (second != std::string_view::npos && line.substr(second + 1).starts_with("1000:")) return true;
  }
  return false;
}

Status AddAgent(const char* path, std::string_view line) {
  // A FIFO or a link in its place neither blocks nor leads away.
  const os::Fd file(open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644));
  if (!file.valid()) return Fail(Error::FromErrno(errno, std::string("open ") + path));
  struct stat info{};
  if (fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Fail(Error::FromErrno(EINVAL, std::string(path) + " is not a regular file"));
  }
  CAISSON_TRY(const std::string text, os::ReadAll(file.get(), kMaxUserFile));
  if (NamesAgent(text)) return {};
  std::string addition = !text.empty() && text.back() != '\n' ? "\n" : "";
  addition += line;
  return os::WriteAll(file.get(), addition);
}

}  // namespace

Status PrepareImage() {
  CAISSON_CHECK_OK(MakeFolder("/etc", 0755, 0));
  CAISSON_CHECK_OK(MakeFolder("/home", 0755, 0));
  CAISSON_CHECK_OK(MakeFolder("/home/agent", 0755, kAgent));
  // A mounted workspace has its owner already, and may be read-only.
  if (mkdir("/home/agent/workspace", 0755) == 0) CAISSON_CHECK_OK(MakeFolder("/home/agent/workspace", 0755, kAgent));
  CAISSON_CHECK_OK(MakeFolder("/tmp", 01777, 0));
  CAISSON_CHECK_OK(AddAgent("/etc/passwd", "agent:x:1000:1000:agent:/home/agent:/bin/sh\n"));
  return AddAgent("/etc/group", "agent:x:1000:\n");
}

}  // namespace caisson::guest
