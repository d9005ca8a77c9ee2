#include "caisson/os/program_folder.h"

#include <limits.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace caisson::os {

Result<std::string> ProgramFolder() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) {
    return Fail(Error::FromErrno(errno, "cannot find the folder of this program").Remedy("mount /proc"));
  }
  const std::string program(path.data(), static_cast<std::size_t>(length));
  return program.substr(0, program.rfind('/'));
}

}  // namespace caisson::os
