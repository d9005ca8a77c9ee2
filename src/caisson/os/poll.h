#pragma once

#include <poll.h>

#include <span>

namespace caisson::os {

// poll(2) for a process that others rely on and that must not end over a moment's want: made again after a signal, and
// a little later while the kernel has no memory for it. `timeout`: 0 to only look, -1 to wait until something is ready.
// Negative descriptors are passed over. False when it cannot be, which open descriptors do not bring about.
[[nodiscard]] bool Poll(std::span<pollfd> entries, int timeout);

}  // namespace caisson::os
