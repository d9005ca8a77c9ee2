#include "caisson/storage/sandbox_folders.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

#include "caisson/os/folder_lock.h"
#include "caisson/storage/kept_layer.h"

namespace caisson::storage {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

}  // namespace

Result<os::Fd> MakeSandboxFolder(const os::Fd& parent, const std::string& name) {
  // Shared here, exclusive while left-overs are looked for, so that nobody sees a folder between its making and its
  // locking.
  CAISSON_TRY(const os::Fd lock, os::LockFolder(parent, LOCK_SH));
  if (mkdirat(parent.get(), name.c_str(), 0700) != 0) {
    return Fail(Error::FromErrno(errno, "cannot make the folder of the writable layer"));
  }
  os::Fd folder(openat(parent.get(), name.c_str(), kDirectory));
  if (!folder.valid()) return Fail(Error::FromErrno(errno, "cannot open the folder of the writable layer"));
  CAISSON_CHECK_OK(os::Lock(folder, LOCK_EX | LOCK_NB));
  return folder;
}

std::vector<SandboxFolder> FindSandboxFolders(const os::Fd& parent) {
  std::vector<SandboxFolder> found;
  const auto lock = os::LockFolder(parent, LOCK_EX);
  if (!lock) return found;
  for (const std::string& name : os::NamesIn(parent)) {
    struct stat info{};
    if (fstatat(parent.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(info.st_mode)) continue;
    const bool owned = !os::TryOwnFolder(parent, name).valid();
    const Owner nobody = IsKept(parent, name) ? Owner::kNobodyButKept : Owner::kNobody;
    found.push_back({name, owned ? Owner::kSomebody : nobody});
  }
  return found;
}

os::Fd TakeLeftOverFolder(const os::Fd& parent, const std::string& name) {
  const auto lock = os::LockFolder(parent, LOCK_EX);
  if (!lock) return {};
  os::Fd folder = os::TryOwnFolder(parent, name);
  // Its owner may have kept it just before the lock was free.
  if (folder.valid() && IsKept(parent, name)) folder.Reset();
  return folder;
}

}  // namespace caisson::storage
