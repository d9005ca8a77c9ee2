#include "caisson/storage/writable_layer.h"

#include <fcntl.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>

#include "caisson/storage/remove_tree.h"
#include "caisson/storage/sandbox_folders.h"

namespace caisson::storage {
namespace {

// What one inode of a tmpfs costs in kernel memory, about; the sum is charged to the sandbox.
constexpr std::uint64_t kBytesPerInode = 4096;
// Less than this is no room: what a file system keeps for itself differs.
constexpr std::uint64_t kNoRoom = 64U << 10U;

Result<os::Fd> MakeTmpfs(const plan::StorageRequest& request) {
  const std::uint64_t size = std::max<std::uint64_t>(request.bytes, 4096);
  const std::string owner = std::to_string(request.first_id);
  CAISSON_TRY(os::FileSystem tmpfs, os::FileSystem::Open("tmpfs"));
  tmpfs.Set("mode", "0700")
      .Set("size", std::to_string(size))
      .Set("nr_inodes", std::to_string(std::max<std::uint64_t>(size / kBytesPerInode, 64)))
      .Set("uid", owner)
      .Set("gid", owner);
  return tmpfs.Mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

}  // namespace

Result<WritableLayer> WritableLayer::Make(const os::Fd& sandboxes, const plan::StorageRequest& request) {
  os::Fd folder;
  switch (request.storage) {
    case plan::Storage::kTmpfs: {
      CAISSON_TRY(folder, MakeTmpfs(request));
      break;
    }
    case plan::Storage::kDirectory: {
      CAISSON_TRY(folder, MakeSandboxFolder(sandboxes, request.name));
      break;
    }
  }
  return WritableLayer(request.storage, request.name, std::move(folder), sandboxes.get());
}

Result<os::DetachedMount> WritableLayer::Mount() const {
  return storage_ == plan::Storage::kTmpfs ? folder_.Duplicate() : os::CloneTree(folder_.get(), "");
}

Result<os::Fd> WritableLayer::WatchPoint() const {
  if (storage_ == plan::Storage::kDirectory) {
    return Fail(Error(Code::kUnsupported, "the file system of the layer is not its own"));
  }
  os::Fd folder(openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return Fail(Error::FromErrno(errno, "cannot open a layer"));
  return folder;
}

bool WritableLayer::IsFull() const {
  struct statvfs info{};
  if (fstatvfs(folder_.get(), &info) != 0) return false;
  return info.f_bavail * info.f_frsize < kNoRoom || (info.f_files != 0 && info.f_favail == 0);
}

bool WritableLayer::IsQuicklyRemoved() const {
  constexpr std::uint64_t kFewInodes = 256;
  constexpr std::uint64_t kFewBytes = std::uint64_t{16} << 20U;
  struct statvfs info{};
  return storage_ == plan::Storage::kTmpfs && fstatvfs(folder_.get(), &info) == 0 &&
         info.f_files - info.f_ffree < kFewInodes && (info.f_blocks - info.f_bfree) * info.f_frsize < kFewBytes;
}

void WritableLayer::Remove() && {
  if (storage_ == plan::Storage::kDirectory) (void)RemoveTree(sandboxes_, name_.c_str());
  folder_.Reset();
}

}  // namespace caisson::storage
