#pragma once

#include <dirent.h>
#include <fcntl.h>

#include <memory>

namespace caisson::guest {

// A folder that is read, for readdir(3) and, by dirfd(3), for what is opened below it.
using FolderStream = std::unique_ptr<DIR, int (*)(DIR*)>;

// Neither waits nor takes anything but a folder. `flags`: O_NOFOLLOW, or 0. Empty, with errno set: it cannot be read.
inline FolderStream OpenFolder(int at, const char* path, int flags) {
  const int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC | flags);
  return {fd < 0 ? nullptr : fdopendir(fd), closedir};
}

}  // namespace caisson::guest
