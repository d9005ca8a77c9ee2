#include "caisson/launcher/root_mounts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "caisson/launcher/uid_blocks.h"
#include "caisson/os/namespace.h"
#include "caisson/plan/limits.h"
#include "caisson/storage/sandbox_folders.h"

namespace caisson::launcher {
namespace {

// What one inode of a tmpfs costs in kernel memory, about; the sum is charged to the sandbox.
constexpr std::uint64_t kBytesPerInode = 4096;

Result<os::Fd> MakeOwnedFolder(const os::Fd& parent, const std::string& name, mode_t mode, std::uint32_t owner) {
  if (mkdirat(parent.get(), name.c_str(), mode) != 0) {
    return Fail(Error::FromErrno(errno, "cannot make a folder of the writable layer"));
  }
  os::Fd folder(openat(parent.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!folder.valid() || fchown(folder.get(), owner, owner) != 0 || fchmod(folder.get(), mode) != 0) {
    return Fail(Error::FromErrno(errno, "cannot prepare a folder of the writable layer"));
  }
  return folder;
}

std::string PathOf(const os::Fd& fd) { return "/proc/self/fd/" + std::to_string(fd.get()); }

Result<os::DetachedMount> MakeOverlay(const os::DetachedMount& lower, const os::Fd& upper, const os::Fd& work) {
  CAISSON_TRY(os::FileSystem overlay, os::FileSystem::Open("overlay"));
  overlay.Set("lowerdir", PathOf(lower))
      .Set("upperdir", PathOf(upper))
      .Set("workdir", PathOf(work))
      .Set("redirect_dir", "on")
      .Set("metacopy", "off")
      .Set("index", "off")
      .Set("xino", "off")
      .Flag("volatile");
  return overlay.Mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

// Host ids to sandbox ids, where `owner` becomes agent and every other id x becomes first_id + kOwnIds + x.
std::vector<os::IdRange> OwnerMap(std::uint32_t owner, std::uint32_t first_id) {
  const std::uint32_t others = first_id + UidBlocks::kOwnIds;
  std::vector<os::IdRange> ranges = {{owner, first_id + plan::kAgentId, 1}};
  if (owner >= UidBlocks::kOwnIds) {
    ranges.push_back({0, others, UidBlocks::kOwnIds});
    return ranges;
  }
  if (owner > 0) ranges.push_back({0, others, owner});
  if (owner + 1 < UidBlocks::kOwnIds) ranges.push_back({owner + 1, others + owner + 1, UidBlocks::kOwnIds - owner - 1});
  return ranges;
}

}  // namespace

Result<WritableLayer> WritableLayer::MakeTmpfs(const plan::LaunchPlan& plan, std::uint32_t first_id) {
  const std::uint64_t size = std::max<std::uint64_t>(std::min(plan.disk_bytes, plan.memory_bytes / 2), 4096);
  CAISSON_TRY(os::FileSystem tmpfs, os::FileSystem::Open("tmpfs"));
  tmpfs.Set("mode", "0700")
      .Set("size", std::to_string(size))
      .Set("nr_inodes", std::to_string(std::max<std::uint64_t>(size / kBytesPerInode, 64)))
      .Set("uid", std::to_string(first_id))
      .Set("gid", std::to_string(first_id));
  CAISSON_TRY(os::DetachedMount mount, tmpfs.Mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
  return WritableLayer(std::move(mount), Place::kDetached);
}

Result<WritableLayer> WritableLayer::MakeFolder(const os::Fd& sandboxes, const std::string& name) {
  CAISSON_TRY(os::Fd folder, storage::MakeSandboxFolder(sandboxes, name));
  return WritableLayer(std::move(folder), Place::kAttachedElsewhere);
}

Status WritableLayer::AttachLayers(const os::DetachedMount& lower) {
  if (place_ == Place::kDetached) {
    CAISSON_CHECK_OK(os::Attach(folder_, "/layer"));
    place_ = Place::kAttachedHere;
  }
  return os::Attach(lower, "/lower");
}

Result<os::DetachedMount> WritableLayer::Overlay(const os::DetachedMount& lower, const std::string& name,
                                                 std::uint32_t owner) {
  // The upper's root shows as the merged root: it keeps the mode that the lower's has.
  struct stat info{};
  if (fstat(lower.get(), &info) != 0) return Fail(Error::FromErrno(errno, "cannot read a layer"));
  CAISSON_TRY(const os::Fd upper, MakeOwnedFolder(folder_, "upper_" + name, info.st_mode & 07777, owner));
  CAISSON_TRY(const os::Fd work, MakeOwnedFolder(folder_, "work_" + name, 0700, owner));
  // Before Linux 6.15 overlayfs takes layers on attached mounts only; it makes its own copies of them. Attached on
  // every kernel, and never tried without: a refused volatile overlay can leave a mark in its work folder, of which no
  // second is made.
  CAISSON_CHECK_OK(AttachLayers(lower));
  return MakeOverlay(lower, upper, work);
}

void DetachLayers() {
  for (const char* point : {"/lower", "/layer"}) {
    while (umount2(point, MNT_DETACH) == 0) {
    }
  }
}

Result<os::DetachedMount> MapWorkspace(const HostTrees& trees, const os::Fd& workspace, std::uint32_t first_id) {
  struct stat info{};
  if (fstat(workspace.get(), &info) != 0) return Fail(Error::FromErrno(errno, "cannot read the workspace folder"));
  CAISSON_TRY(os::DetachedMount tree, trees.CloneHostFolder(workspace));
  CAISSON_TRY(const os::Fd map,
              os::MakeUserNamespace(OwnerMap(info.st_uid, first_id), OwnerMap(info.st_gid, first_id)));
  CAISSON_CHECK_OK(os::MapIds(tree, map));
  CAISSON_CHECK_OK(os::AddMountFlags(tree, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
  return tree;
}

}  // namespace caisson::launcher
