#include "caisson/os/fd.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string>

namespace caisson::os {

Result<Fd> Fd::Duplicate() const {
  const int copy = fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return Fail(Error::FromErrno(errno, "cannot duplicate a descriptor"));
  return Fd(copy);
}

void SetNonBlocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

std::string PathOf(const Fd& fd) {
  std::array<char, PATH_MAX> path{};
  const ssize_t size = readlink(("/proc/self/fd/" + std::to_string(fd.get())).c_str(), path.data(), path.size());
  return size < 0 ? std::string() : std::string(path.data(), static_cast<std::size_t>(size));
}

Result<std::string> ReadAll(int fd, std::size_t limit) {
  std::string data;
  while (true) {
    const std::size_t used = data.size();
    const std::size_t step = std::min<std::size_t>(limit + 1 - used, 64U << 10U);
    data.resize(used + step);
    const ssize_t n = read(fd, data.data() + used, step);
    if (n < 0 && errno == EINTR) {
      data.resize(used);
      continue;
    }
    if (n < 0) return Fail(Error::FromErrno(errno, "cannot read"));
    data.resize(used + static_cast<std::size_t>(n));
    if (n == 0) return data;
    if (data.size() > limit) return Fail(Error(Code::kResourceExhausted, "more data than allowed"));
  }
}

Status WriteAll(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t n = write(fd, data.data(), data.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Fail(Error::FromErrno(errno, "cannot write"));
    data.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

}  // namespace caisson::os
