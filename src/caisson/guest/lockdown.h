#pragma once

#include <string>

#include "caisson/base/result.h"

namespace caisson::guest {

// The uid of PID 1 inside: its own, so that no command, not even one of the sandbox's root, may limit or trace it.
inline constexpr unsigned kGuestId = 60000;

// Takes from PID 1 what it does not need, in this order: it dies with its parent and cannot be dumped; the bounding set
// is empty; root means nothing on exec; it runs as kGuestId with only the capabilities to change ids and to signal;
// no_new_privs; the system call filter (struct sock_filter array), which every command inherits.
Status LockDown(const std::string& filter);

}  // namespace caisson::guest
