#include "caisson/storage/workspace_copy.h"

#include <fcntl.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "caisson/os/folder_lock.h"
#include "caisson/storage/kept_layer.h"
#include "caisson/storage/layer_folders.h"
#include "caisson/storage/remove_tree.h"

namespace caisson::storage {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
constexpr const char* kCopies = "copies";
constexpr const char* kName = "workspace";

bool MayHaveKeptLayer(const os::Fd& data, const std::string& id) {
  if (!AllLayersAreKnown(data)) return true;
  const std::vector<LayerFolder> folders = LayerFolders(data);
  return std::any_of(folders.begin(), folders.end(),
                     [&](const LayerFolder& folder) { return IsKept(folder.folder, id); });
}

// What the host's file system keeps free beside copies.
constexpr std::uint64_t kReserve = std::uint64_t{1} << 30U;
constexpr std::uint64_t kReservePercent = 5;

CopyOptions OptionsFor(const os::Fd& copies) {
  CopyOptions options;
  struct statvfs space{};
  if (fstatvfs(copies.get(), &space) != 0) return options;
  const std::uint64_t size = space.f_blocks * space.f_frsize;
  const std::uint64_t free = space.f_bavail * space.f_frsize;
  const std::uint64_t reserve = std::max(kReserve, size / 100 * kReservePercent);
  options.max_bytes.value = std::min(options.max_bytes.value, free > reserve ? free - reserve : 0);
  return options;
}

}  // namespace

Result<WorkspaceCopy> MakeWorkspaceCopy(const os::Fd& data, const std::string& id, const os::Fd& source,
                                        const std::function<bool(const CopyProgress&)>& progress) {
  const os::Fd copies(openat(data.get(), kCopies, kDirectory));
  if (!copies.valid()) return Fail(Error::FromErrno(errno, "cannot open the folder of workspace copies"));
  WorkspaceCopy copy;
  CAISSON_TRY(copy.lock, MakeSandboxFolder(copies, id));
  const auto fill = [&]() -> Status {
    CAISSON_TRY(const CopySummary summary, CopyFolder(source, copy.lock, kName, OptionsFor(copies), progress));
    copy.folder = os::Fd(openat(copy.lock.get(), kName, kDirectory));
    if (!copy.folder.valid()) return Fail(Error::FromErrno(errno, "cannot open the copy of the workspace"));
    copy.path = std::string(kCopies) + "/" + id + "/" + kName;
    return {};
  };
  if (Status filled = fill(); !filled) {
    (void)RemoveTree(copies.get(), id.c_str());
    return Fail(std::move(filled).error().Context("copying the workspace"));
  }
  return copy;
}

Result<WorkspaceCopy> TakeWorkspaceCopy(const os::Fd& data, const std::string& id) {
  WorkspaceCopy copy;
  const os::Fd copies(openat(data.get(), kCopies, kDirectory));
  if (copies.valid()) copy.lock = os::TryOwnFolder(copies, id);
  if (copy.lock.valid()) copy.folder = os::Fd(openat(copy.lock.get(), kName, kDirectory));
  if (!copy.folder.valid()) {
    return Fail(Error::FromErrno(errno, "cannot take the copy of the sandbox's workspace"));
  }
  copy.path = std::string(kCopies) + "/" + id + "/" + kName;
  return copy;
}

// Found by its lock's path, since it may have been renamed before.
Result<std::string> NameWorkspaceCopy(const os::Fd& lock, const std::string& id) {
  const std::string path = os::PathOf(lock);
  const std::string wanted = path.substr(0, path.rfind('/') + 1) + id;
  if (path != wanted && renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, wanted.c_str(), RENAME_NOREPLACE) != 0) {
    return Fail(Error::FromErrno(errno, "cannot name the copy of the workspace after its sandbox"));
  }
  return wanted + "/" + kName;
}

std::vector<SandboxFolder> FindWorkspaceCopies(const os::Fd& data) {
  const os::Fd copies(openat(data.get(), kCopies, kDirectory));
  if (!copies.valid()) return {};
  std::vector<SandboxFolder> found = FindSandboxFolders(copies);
  for (SandboxFolder& copy : found) {
    if (copy.owner == Owner::kNobody && MayHaveKeptLayer(data, copy.name)) copy.owner = Owner::kNobodyButKept;
  }
  return found;
}

Result<bool> RemoveWorkspaceCopy(const os::Fd& data, const std::string& id, const Deadline& deadline) {
  const os::Fd copies(openat(data.get(), kCopies, kDirectory));
  if (!copies.valid()) return false;
  const os::Fd own = TakeLeftOverFolder(copies, id);
  if (!own.valid() || MayHaveKeptLayer(data, id)) return false;
  CAISSON_CHECK_OK(RemoveTree(copies.get(), id.c_str(), deadline));
  return true;
}

}  // namespace caisson::storage
