#include "caisson/os/folder_lock.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>

namespace caisson::os {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

}  // namespace

Status Lock(const Fd& file, int operation) {
  while (flock(file.get(), operation) != 0) {
    if (errno != EINTR) return Fail(Error::FromErrno(errno, "cannot lock a file or folder"));
  }
  return {};
}

Result<Fd> LockFolder(const Fd& folder, int operation) {
  Fd lock(openat(folder.get(), ".", kDirectory));
  if (!lock.valid()) return Fail(Error::FromErrno(errno, "cannot open a folder to lock it"));
  CAISSON_CHECK_OK(Lock(lock, operation));
  return lock;
}

Fd TryOwnFolder(const Fd& parent, const std::string& name) {
  Fd folder(openat(parent.get(), name.c_str(), kDirectory));
  if (folder.valid() && !Lock(folder, LOCK_EX | LOCK_NB)) folder.Reset();
  return folder;
}

bool IsStillAt(const Fd& folder, const Fd& parent, const std::string& name) {
  struct stat held{};
  struct stat named{};
  return fstat(folder.get(), &held) == 0 && fstatat(parent.get(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

Result<std::vector<std::string>> ReadNames(const Fd& folder) {
  Fd again(openat(folder.get(), ".", kDirectory));
  if (!again.valid()) return Fail(Error::FromErrno(errno, "cannot open a folder again"));
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(fdopendir(again.get()), closedir);
  if (listing == nullptr) return Fail(Error::FromErrno(errno, "cannot list a folder"));
  (void)again.Release();
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(listing.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return Fail(Error::FromErrno(errno, "cannot list a folder"));
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> NamesIn(const Fd& folder) { return ReadNames(folder).value_or(std::vector<std::string>()); }

}  // namespace caisson::os
