#include "caisson/os/poll.h"

#include <unistd.h>

#include <cerrno>

namespace caisson::os {
namespace {

constexpr useconds_t kPauseUs = 10'000;

}  // namespace

bool Poll(std::span<pollfd> entries, int timeout) {
  while (poll(entries.data(), entries.size(), timeout) < 0) {
    if (errno == ENOMEM)
      usleep(kPauseUs);
    else if (errno != EINTR)
      return false;
  }
  return true;
}

}  // namespace caisson::os
