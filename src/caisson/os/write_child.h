#pragma once

#include <cstddef>
#include <span>

namespace caisson::os {

// For code between clone and exec, and for files of the kernel that take a text in one write. What may be written in
// parts is for os::WriteAll.

// One write(2) of the whole text, made again when a signal came in between. Returns 0 or an errno; EIO for a part.
int WriteWhole(int fd, const char* text, std::size_t length);

// Moves the calling process, which has one thread, into the cgroups of these `tasks` files (cgroup v1); a negative one
// is passed over. Returns 0 or an errno.
int JoinCgroups(std::span<const int> tasks);

}  // namespace caisson::os
