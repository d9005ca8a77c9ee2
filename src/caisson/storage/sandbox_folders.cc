#include "caisson/storage/sandbox_folders.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "caisson/storage/remove_tree.h"

namespace caisson::storage {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

// The parent's lock: shared while a folder is made and locked, exclusive while left-overs are looked for, so that
// nobody sees a folder between the two.
Result<os::Fd> LockParent(const os::Fd& parent, int operation) {
  os::Fd lock(openat(parent.get(), ".", kDirectory));
  if (!lock.valid() || flock(lock.get(), operation) != 0) {
    return Fail(Error::FromErrno(errno, "cannot lock the folder of writable layers"));
  }
  return lock;
}

std::vector<std::string> Names(const os::Fd& parent) {
  std::vector<std::string> names;
  const int again = openat(parent.get(), ".", kDirectory);
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(again < 0 ? nullptr : fdopendir(again), closedir);
  if (listing == nullptr) return names;
  while (const dirent* entry = readdir(listing.get())) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  return names;
}

}  // namespace

Result<os::Fd> MakeSandboxFolder(const os::Fd& parent, const std::string& name) {
  CAISSON_TRY(const os::Fd lock, LockParent(parent, LOCK_SH));
  if (mkdirat(parent.get(), name.c_str(), 0700) != 0) {
    return Fail(Error::FromErrno(errno, "cannot make the folder of the writable layer"));
  }
  os::Fd folder(openat(parent.get(), name.c_str(), kDirectory));
  if (!folder.valid() || flock(folder.get(), LOCK_EX | LOCK_NB) != 0) {
    return Fail(Error::FromErrno(errno, "cannot lock the folder of the writable layer"));
  }
  return folder;
}

void RemoveLeftOverFolders(const os::Fd& parent) {
  const std::vector<std::string> names = Names(parent);
  if (names.empty()) return;
  // Somebody else is making a folder or doing this: no hurry.
  const auto lock = LockParent(parent, LOCK_EX | LOCK_NB);
  if (!lock) return;
  for (const std::string& name : names) {
    const os::Fd folder(openat(parent.get(), name.c_str(), kDirectory));
    if (folder.valid() && flock(folder.get(), LOCK_EX | LOCK_NB) == 0) (void)RemoveTree(parent.get(), name.c_str());
  }
}

}  // namespace caisson::storage
