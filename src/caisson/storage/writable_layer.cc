#include "caisson/storage/writable_layer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "caisson/os/folder_lock.h"
#include "caisson/storage/kept_layer.h"
#include "caisson/storage/remove_tree.h"
#include "caisson/storage/sandbox_folders.h"
#include "caisson/storage/workspace_copy.h"

namespace caisson::storage {
namespace {

// What one inode of a tmpfs costs in kernel memory, about; the sum is charged to the sandbox.
constexpr std::uint64_t kBytesPerInode = 4096;
// Less than this is no room: what a file system keeps for itself differs.
constexpr std::uint64_t kNoRoom = 64U << 10U;
constexpr std::chrono::minutes kCopyPatience{10};

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

Result<os::Fd> MakeFolder(LayerPlaces& places, const plan::StorageRequest& request) {
  switch (request.storage) {
    case plan::Storage::kTmpfs:
      return MakeTmpfs(request);
    case plan::Storage::kDirectory:
      return MakeSandboxFolder(places.sandboxes(), request.name);
    case plan::Storage::kBtrfs: {
      CAISSON_TRY(BtrfsLayers* const store, places.Store());
      return store->CreateLayer(request.name, {request.bytes});
    }
  }
  return Fail(Error(Code::kInternal, "there is no such storage"));
}

Result<os::Fd> OpenSelf(const os::Fd& folder) {
  os::Fd opened(openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.valid()) return Fail(Error::FromErrno(errno, "cannot open a layer"));
  return opened;
}

// A quota tells nobody how much is left before the next commit: only an attempt does.
bool RefusesMore(const os::Fd& folder) {
  const os::Fd file(openat(folder.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  return !file.valid() || fallocate(file.get(), 0, 0, static_cast<off_t>(kNoRoom)) != 0;
}

// For all who have the lock: the sandbox that it was for is dead.
void Unlock(os::Fd lock) {
  if (lock.valid()) (void)flock(lock.get(), LOCK_UN);
}

}  // namespace

Result<LayerPlaces> LayerPlaces::Open(os::Fd data) {
  os::Fd sandboxes(openat(data.get(), "sandboxes", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!sandboxes.valid()) return Fail(Error::FromErrno(errno, "cannot open the folder of writable layers"));
  return LayerPlaces(std::move(data), std::move(sandboxes));
}

Result<BtrfsLayers*> LayerPlaces::Store() {
  if (store_ == nullptr) {
    CAISSON_TRY(BtrfsStore store, BtrfsStore::Open(data_, os::PathOf(data_), IfMissing::kCreate));
    store_ = std::make_unique<BtrfsLayers>(std::move(store));
  }
  return store_.get();
}

Result<const os::Fd*> LayerPlaces::FolderOf(plan::Storage storage) {
  if (storage == plan::Storage::kDirectory) return &sandboxes_;
  if (storage == plan::Storage::kTmpfs) return Fail(Error(Code::kUnsupported, "a layer in memory is not kept"));
  CAISSON_TRY(BtrfsLayers* const store, Store());
  return &store->store().layers();
}

Result<WritableLayer> WritableLayer::Make(LayerPlaces& places, const plan::StorageRequest& request) {
  CAISSON_TRY(os::Fd folder, MakeFolder(places, request));
  return WritableLayer(places, request, std::move(folder));
}

Result<WritableLayer::Returned> WritableLayer::TakeKept(LayerPlaces& places, const plan::StorageRequest& request) {
  CAISSON_TRY(const os::Fd* const layers, places.FolderOf(request.storage));
  CAISSON_TRY(ReturnedLayer with, TakeKeptLayer(places.data(), *layers, request.name));
  Returned returned{WritableLayer(places, request, std::move(with.folder)), std::move(with)};
  if (returned.with.copy) {
    CAISSON_TRY(returned.layer.copy_, returned.with.copy->lock.Duplicate());
  }
  return returned;
}

Result<WritableLayer> WritableLayer::TakeToRemove(LayerPlaces& places, const plan::StorageRequest& request) {
  CAISSON_TRY(const os::Fd* const layers, places.FolderOf(request.storage));
  CAISSON_TRY(const bool is_kept, MayReturn(*layers, request.name));
  if (!is_kept) return Fail(Error::FromErrno(ENOENT, "no such layer is kept"));
  os::Fd folder = os::TryOwnFolder(*layers, request.name);
  if (!folder.valid()) return Fail(Error::FromErrno(EBUSY, "somebody uses the layer"));
  CAISSON_CHECK_OK(ForgetKept(folder));
  WritableLayer layer(places, request, std::move(folder));
  if (auto copy = TakeWorkspaceCopy(places.data(), request.name)) layer.TakeCopy(std::move(copy->lock));
  return layer;
}

Result<os::DetachedMount> WritableLayer::Mount() const {
  return storage_ == plan::Storage::kTmpfs ? folder_.Duplicate() : os::CloneTree(folder_.get(), "");
}

Result<WritableLayer::WatchPoint> WritableLayer::OpenWatchPoint() const {
  const bool is_own = storage_ == plan::Storage::kTmpfs ||
                      (storage_ == plan::Storage::kBtrfs && places_->OpenedStore()->store().is_own());
  if (!is_own) return Fail(Error(Code::kUnsupported, "the file system of the layer is not its own"));
  CAISSON_TRY(os::Fd layer, OpenSelf(folder_));
  CAISSON_TRY(os::Fd file_system,
              OpenSelf(storage_ == plan::Storage::kTmpfs ? folder_ : places_->OpenedStore()->store().layers()));
  return WatchPoint{std::move(file_system), std::move(layer)};
}

bool WritableLayer::IsFull() const {
  struct statvfs info{};
  if (fstatvfs(folder_.get(), &info) != 0) return false;
  const bool is_full = info.f_bavail * info.f_frsize < kNoRoom || (info.f_files != 0 && info.f_favail == 0);
  return is_full || (storage_ == plan::Storage::kBtrfs && RefusesMore(folder_));
}

bool WritableLayer::IsKept() const {
  if (storage_ == plan::Storage::kTmpfs) return false;
  const auto has_record = HasRecord(folder_);
  return !has_record || *has_record;
}

Status WritableLayer::Stay(const std::string& image) const {
  if (storage_ == plan::Storage::kTmpfs) {
    return Fail(Error(Code::kUnsupported, "the files of a sandbox whose storage is tmpfs end with its processes"));
  }
  if (image.empty()) {
    return Fail(Error(Code::kUnsupported, "the sandbox uses a folder of the host, which may be another one by then"));
  }
  return KeepForReturn(
      folder_, {.name = name_, .first_id = first_id_, .image = image, .copy = copy_.valid() ? &copy_ : nullptr});
}

Status WritableLayer::Keep(std::string_view record, const std::string& image) const {
  if (storage_ == plan::Storage::kTmpfs) {
    return Fail(Error(Code::kUnsupported, "a writable layer in memory cannot be kept")
                    .Remedy("choose another storage: btrfs, or directory"));
  }
  return KeepLayer(folder_, record, image);
}

bool WritableLayer::IsQuicklyRemoved() const {
  constexpr std::uint64_t kFewInodes = 256;
  constexpr std::uint64_t kFewBytes = std::uint64_t{16} << 20U;
  if (IsKept()) return true;
  if (copy_.valid()) return false;
  if (storage_ == plan::Storage::kBtrfs) return true;
  struct statvfs info{};
  return storage_ == plan::Storage::kTmpfs && fstatvfs(folder_.get(), &info) == 0 &&
         info.f_files - info.f_ffree < kFewInodes && (info.f_blocks - info.f_bfree) * info.f_frsize < kFewBytes;
}

void WritableLayer::Remove() && {
  if (IsKept()) {
    Unlock(std::move(copy_));
    return Unlock(std::move(folder_));
  }
  // What cannot be removed now is a left-over without a lock, and collected later.
  if (storage_ == plan::Storage::kDirectory) (void)RemoveTree(places_->sandboxes().get(), name_.c_str());
  if (storage_ == plan::Storage::kBtrfs) (void)places_->OpenedStore()->DeleteLayer(name_);
  folder_.Reset();
  if (!copy_.valid()) return;
  const std::string copy = os::PathOf(copy_);
  Unlock(std::move(copy_));
  (void)RemoveWorkspaceCopy(places_->data(), copy.substr(copy.rfind('/') + 1), Deadline::In(kCopyPatience));
}

}  // namespace caisson::storage
