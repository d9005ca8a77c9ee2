#include "caisson/os/write_child.h"

#include <unistd.h>

#include <cerrno>

// Runs between clone and exec, in the memory of another process: system calls only.

namespace caisson::os {

int WriteWhole(int fd, const char* text, std::size_t length) {
  ssize_t n = 0;
  do {
    n = write(fd, text, length);
  } while (n < 0 && errno == EINTR);
  if (n < 0) return errno;
  return n == static_cast<ssize_t>(length) ? 0 : EIO;
}

int JoinCgroups(std::span<const int> tasks) {
  for (const int file : tasks) {
    if (file < 0) continue;
    if (const int error = WriteWhole(file, "0", 1); error != 0) return error;
  }
  return 0;
}

}  // namespace caisson::os
