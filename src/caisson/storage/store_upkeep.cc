#include "caisson/storage/store_upkeep.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>

#include "caisson/os/btrfs.h"
#include "caisson/os/folder_lock.h"
#include "caisson/storage/btrfs_store.h"
#include "caisson/storage/store_file.h"

namespace caisson::storage {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
constexpr const char* kMount = "store";
constexpr const char* kLayers = "layers";
constexpr std::uint64_t kStatBlock = 512;

bool IsMount(const os::Fd& data, const std::string& name) {
  struct statx found{};
  const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (name.empty() ? AT_EMPTY_PATH : 0);
  return statx(data.get(), name.c_str(), flags, 0, &found) == 0 &&
         (found.stx_attributes_mask & found.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

}  // namespace

std::optional<StoreUsage> ReadStore(const os::Fd& data) {
  struct stat info{};
  if (fstatat(data.get(), kStoreFileName, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
    return std::nullopt;
  StoreUsage usage{.size = {static_cast<std::uint64_t>(info.st_size)},
                   .allocated = {static_cast<std::uint64_t>(info.st_blocks) * kStatBlock},
                   .used = {}};
  const os::Fd mounted(IsMount(data, kMount) ? openat(data.get(), kMount, kDirectory) : -1);
  struct statvfs space{};
  if (mounted.valid() && fstatvfs(mounted.get(), &space) == 0) {
    usage.used = {(space.f_blocks - space.f_bfree) * space.f_frsize};
  }
  return usage;
}

os::Fd OpenStoreLayers(const os::Fd& data) {
  if (IsMount(data, kMount)) {
    const os::Fd root(openat(data.get(), kMount, kDirectory));
    return os::Fd(root.valid() ? openat(root.get(), kLayers, kDirectory) : -1);
  }
  return os::Fd(os::IsBtrfs(data) ? openat(data.get(), kLayers, kDirectory) : -1);
}

Result<std::optional<BtrfsLayers>> OpenStore(const os::Fd& data, const std::string& data_path, MountStore mount) {
  const bool at_hand = OpenStoreLayers(data).valid();
  if (!at_hand && (mount == MountStore::kNo || !ReadStore(data))) return std::nullopt;
  CAISSON_TRY(BtrfsStore store, BtrfsStore::Open(data, data_path, IfMissing::kFail));
  return BtrfsLayers(std::move(store));
}

bool IsMountPoint(const os::Fd& folder) { return IsMount(folder, ""); }

std::vector<std::string> MountsIn(const os::Fd& data) {
  std::vector<std::string> mounts;
  for (const std::string& name : os::NamesIn(data)) {
    if (IsMount(data, name)) mounts.push_back(name);
  }
  return mounts;
}

Status UnmountIn(const os::Fd& data, const std::string& name) {
  // Only root may write to the folder, so its names are nobody else's to swap.
  const std::string path = "/proc/self/fd/" + std::to_string(data.get()) + "/" + name;
  if (umount2(path.c_str(), UMOUNT_NOFOLLOW) != 0) return Fail(Error::FromErrno(errno, "cannot unmount " + name));
  return {};
}

}  // namespace caisson::storage
