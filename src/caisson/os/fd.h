#pragma once

#include <unistd.h>

#include <utility>

#include "caisson/base/result.h"

namespace caisson::os {

// Owns one file descriptor and closes it. Every descriptor is close-on-exec from birth; `dup` is not
// offered without it. Move-only. An fd is never tested by accident: ask `valid()`.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.Release()) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) Reset(other.Release());
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { Reset(); }

  bool valid() const { return fd_ >= 0; }
  // Borrowed: stays owned by this object.
  int get() const { return fd_; }
  [[nodiscard]] int Release() { return std::exchange(fd_, -1); }
  // close(2) is not retried on EINTR: on Linux the descriptor is gone either way.
  void Reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

  // A second descriptor for the same open file (F_DUPFD_CLOEXEC).
  Result<Fd> Duplicate() const;

 private:
  int fd_ = -1;
};

// From here on a read or write of the open file, by whoever has it, does not wait (O_NONBLOCK).
void SetNonBlocking(int fd);

// The path that was opened, as this process sees it now; for messages and records, never to open it again in trust.
std::string PathOf(const Fd& fd);

// Reads at most `limit` bytes from the current offset to the end. Errors: kResourceExhausted when there is more.
Result<std::string> ReadAll(int fd, std::size_t limit);
// Writes everything, retrying short writes and EINTR.
Status WriteAll(int fd, std::string_view data);

}  // namespace caisson::os
