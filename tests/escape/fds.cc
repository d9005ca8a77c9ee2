#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "caisson/os/fd.h"
#include "escape/attempt.h"
#include "escape/probe.h"

namespace caisson::escape {
namespace {

Outcome UseInheritedFd(const Context& context) {
  if (context.inherited_fds().empty()) return Refused(EBADF);
  std::string note = "open at start:";
  for (const int fd : context.inherited_fds()) note.append(" ").append(std::to_string(fd));
  return Succeeded(note);
}

// From every descriptor that is a directory, climb to the top and look for the host's file there.
Outcome ClimbFromFd(const Context& context) {
  const std::string* canary = context.Find("canary");
  if (canary == nullptr) return NotRun("needs --canary");
  std::string path;
  for (int i = 0; i < 64; ++i) path += "../";
  path += canary->substr(1);
  for (int fd = 0; fd < 1024; ++fd) {
    const os::Fd file(::openat(fd, path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.valid()) return Succeeded("from descriptor " + std::to_string(fd));
  }
  return Refused(ENOENT);
}

// The same by the names under /proc, which a working directory can be set to.
Outcome EnterFdByName(const Context& context) {
  const std::string* canary = context.Find("canary");
  if (canary == nullptr) return NotRun("needs --canary");
  for (int fd = 0; fd < 1024; ++fd) {
    const std::string directory = "/proc/self/fd/" + std::to_string(fd);
    if (::chdir(directory.c_str()) != 0) continue;
    std::string path;
    for (int i = 0; i < 64; ++i) path += "../";
    const Outcome attempt = TryRead(path + canary->substr(1));
    if (attempt.kind == Outcome::Kind::kSucceeded) return Succeeded("through " + directory);
  }
  return Refused(ENOENT);
}

Outcome StdioIsRegularFile(const Context&) {
  for (const int fd : {1, 2}) {
    struct stat status{};
    if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) return Succeeded("descriptor " + std::to_string(fd));
  }
  return Refused(ENOENT);
}

}  // namespace

Probes FdProbes() {
  return {
      {"inherited_fd", "C2", "hold a descriptor that its starter left open", UseInheritedFd},
      {"fd_climb", "C1", "climb to the host's root from a directory descriptor", ClimbFromFd},
      {"fd_chdir", "C1", "enter a directory by /proc/self/fd and climb from it", EnterFdByName},
      {"stdio_regular_file", "C7", "hold a regular file of the host as standard output", StdioIsRegularFile},
  };
}

}  // namespace caisson::escape
