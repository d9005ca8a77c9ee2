#include "escape/attempt.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <sstream>

#include "caisson/os/fd.h"

namespace caisson::escape {

Outcome TryOpen(const std::string& path, int flags) {
  const os::Fd fd(::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  return fd.valid() ? Succeeded(path) : Refused(errno, path);
}

Outcome TryRead(const std::string& path) {
  const os::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd.valid()) return Refused(errno, path);
  char byte = 0;
  const ssize_t count = ::read(fd.get(), &byte, 1);
  if (count < 0) return Refused(errno, path);
  return count > 0 ? Succeeded(path) : Refused(ENODATA, path);
}

std::string Content(const std::string& path, std::size_t limit) {
  std::string content;
  const os::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd.valid()) return content;
  std::array<char, 4096> block{};
  while (content.size() < limit) {
    const ssize_t count = ::read(fd.get(), block.data(), block.size());
    if (count <= 0) break;
    content.append(block.data(), static_cast<std::size_t>(count));
  }
  return content;
}

std::string StatusField(std::string_view key) {
  std::istringstream lines(Content("/proc/self/status"));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key) || line.size() <= key.size() + 2 || line[key.size()] != ':') continue;
    return line.substr(line.find_first_not_of(" \t", key.size() + 1));
  }
  return {};
}

bool WriteSmallFile(const std::string& path, std::string_view content) {
  const os::Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  return fd.valid() && ::write(fd.get(), content.data(), content.size()) == static_cast<ssize_t>(content.size());
}

int ExitStatusOf(const std::function<int()>& act) {
  const pid_t child = ::fork();
  if (child < 0) return 127;
  if (child == 0) ::_exit(act());
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 127;
  return WEXITSTATUS(status);
}

}  // namespace caisson::escape
