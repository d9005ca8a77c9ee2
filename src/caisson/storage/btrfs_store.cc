#include "caisson/storage/btrfs_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>

#include "caisson/os/btrfs.h"
#include "caisson/os/folder_lock.h"
#include "caisson/os/loop_device.h"
#include "caisson/os/mount.h"
#include "caisson/storage/store_file.h"

namespace caisson::storage {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
constexpr char kMountName[] = "store";
constexpr char kLockName[] = "store.lock";
constexpr unsigned kMountAttributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOATIME;
constexpr std::uint64_t kRootInode = 256;
// Space for metadata that no group is charged for, and for chunks that are not full.
constexpr Bytes kOverhead = MiB(768);
constexpr std::uint64_t kOverheadShare = 16;

Result<os::Fd> OpenFolder(const os::Fd& parent, const char* name) {
  if (mkdirat(parent.get(), name, 0700) != 0 && errno != EEXIST) {
    return Fail(Error::FromErrno(errno, std::string("cannot make the folder ") + name + " of the store"));
  }
  os::Fd folder(openat(parent.get(), name, kDirectory));
  struct stat info{};
  if (!folder.valid() || fstat(folder.get(), &info) != 0) {
    return Fail(Error::FromErrno(errno, std::string("cannot open the folder ") + name + " of the store"));
  }
  if (info.st_uid != 0 || (info.st_mode & 077) != 0) {
    return Fail(Error(Code::kPermissionDenied, std::string("the folder ") + name + " of the store cannot be trusted")
                    .Because("others than root can enter it")
                    .Remedy("chown root, chmod 0700, after finding out who changed it"));
  }
  return folder;
}

Result<Space> SpaceOf(const os::Fd& file) {
  struct statvfs info{};
  if (fstatvfs(file.get(), &info) != 0) return Fail(Error::FromErrno(errno, "cannot ask for the free space"));
  return Space{{info.f_blocks * info.f_frsize}, {info.f_bavail * info.f_frsize}};
}

bool IsReadOnly(const os::Fd& file) {
  struct statvfs info{};
  return fstatvfs(file.get(), &info) == 0 && (info.f_flag & ST_RDONLY) != 0;
}

// Keeps what is mounted below it, which is nothing, out of other mount namespaces.
Status MakePrivate(const os::Fd& mount) {
  mount_attr attributes{};
  attributes.propagation = MS_PRIVATE;
  if (mount_setattr(mount.get(), "", AT_EMPTY_PATH, &attributes, sizeof attributes) == 0) return {};
  return Fail(Error::FromErrno(errno, "cannot make the mount of the store private"));
}

Result<os::LoopDevice> FindOrAttach(const os::Fd& file) {
  // One that exists belongs to a mount elsewhere, or to somebody who was killed: a second would corrupt the store.
  CAISSON_TRY(std::optional<os::LoopDevice> found, os::LoopDevice::Find(file));
  if (found) return std::move(*found);
  return os::LoopDevice::Attach(file);
}

Result<os::DetachedMount> MountDevice(const std::string& device) {
  CAISSON_TRY(os::FileSystem btrfs, os::FileSystem::Open("btrfs"));
  // Synchronous discard: with `async`, deleted layers keep the host's space for minutes.
  return btrfs.Set("source", device).Flag("discard").Mount(kMountAttributes);
}

}  // namespace

Bytes StoreSizeFor(Bytes pool, const Promises& promises, Bytes wanted, const StorePolicy& policy) {
  const std::uint64_t held = promises.total.value + wanted.value;
  const std::uint64_t needed = held + held / kOverheadShare + kOverhead.value;
  if (needed <= pool.value) return pool;
  const std::uint64_t step = policy.growth_step.value;
  return {(needed + step - 1) / step * step};
}

Status CheckHostReserve(const Space& host, const Promises& promises, Bytes wanted, const StorePolicy& policy) {
  const std::uint64_t reserve = std::max(policy.reserve.value, host.size.value / 100 * policy.reserve_percent);
  const std::uint64_t needed = promises.rest.value + wanted.value + reserve;
  if (needed >= wanted.value && needed <= host.free.value) return {};
  return Fail(Error(Code::kResourceExhausted, "the host has no room for a writable layer of " + FormatBytes(wanted))
                  .Because(std::to_string(host.free.value) + " bytes are free; layers that exist may still take " +
                           std::to_string(promises.rest.value) + ", and " + std::to_string(reserve) +
                           " stay reserved for the host")
                  .Remedy("free space, remove sandboxes, or choose a smaller disk limit"));
}

Result<BtrfsStore> BtrfsStore::Open(const os::Fd& data, const std::string& data_path, IfMissing if_missing,
                                    const StorePolicy& policy) {
  CAISSON_TRY(os::Fd own, data.Duplicate());
  BtrfsStore store(std::move(own), data_path, policy);
  auto file = OpenStoreFile(store.data_, data_path);
  if (file) {
    store.file_ = std::move(*file);
  } else if (file.error().code() != Code::kNotFound) {
    return Fail(std::move(file).error());
  } else if (os::IsBtrfs(store.data_)) {
    CAISSON_TRY(const os::QuotaState quotas, os::ReadQuotaState(store.data_));
    // Enabling them is up to the owner of that file system: it costs all its users, and older kernels refuse to mount
    // one with simple quotas. The store file serves without.
    if (quotas.mode != os::QuotaMode::kOff) {
      CAISSON_CHECK_OK(store.UseDataFolder());
      return store;
    }
  }
  CAISSON_CHECK_OK(store.UseFile(if_missing));
  return store;
}

Status BtrfsStore::UseDataFolder() {
  if (IsReadOnly(data_)) return Fail(Error(Code::kUnavailable, "the file system of " + data_path_ + " is read-only"));
  return OpenFolders(data_);
}

Status BtrfsStore::UseFile(IfMissing if_missing) {
  if (file_.valid()) {
    CAISSON_TRY(const bool mounted, UseMounted());
    if (mounted) return {};
  } else if (if_missing == IfMissing::kFail) {
    return Fail(Error(Code::kNotFound, "there is no store in " + data_path_));
  }
  CAISSON_TRY(const os::Fd lock, Lock());
  if (!file_.valid()) {
    auto file = OpenStoreFile(data_, data_path_);
    if (!file && file.error().code() == Code::kNotFound) {
      CAISSON_TRY(const Space host, HostSpace());
      CAISSON_CHECK_OK(CheckHostReserve(host, {}, kOverhead, policy_));
      CAISSON_CHECK_OK(MakeStoreFile(data_, data_path_, lock, policy_.first_size));
      file = OpenStoreFile(data_, data_path_);
    }
    CAISSON_TRY(file_, std::move(file));
  }
  // Somebody else may have done it before we had the lock.
  CAISSON_TRY(const bool mounted, UseMounted());
  return mounted ? Status() : MountFile();
}

// False when nothing is mounted.
Result<bool> BtrfsStore::UseMounted() {
  const std::string path = data_path_ + "/" + kMountName;
  const os::Fd root(openat(data_.get(), kMountName, kDirectory));
  if (!root.valid()) {
    if (errno == ENOENT) return false;
    return Fail(Error::FromErrno(errno, "cannot open the mount point " + path));
  }
  struct stat below{};
  struct stat here{};
  if (fstat(data_.get(), &below) != 0 || fstat(root.get(), &here) != 0) {
    return Fail(Error::FromErrno(errno, "cannot describe the mount point " + path));
  }
  if (here.st_dev == below.st_dev) return false;
  bool ours = false;
  if (os::IsBtrfs(root) && here.st_ino == kRootInode) {
    CAISSON_TRY(const std::string device, os::FirstDevice(root));
    CAISSON_TRY(ours, os::IsLoopDeviceOf(device, file_));
  }
  if (!ours) {
    return Fail(Error(Code::kConflict, "something else than the store is mounted at " + path)
                    .Because("it does not show the file " + data_path_ + "/" + kStoreFileName)
                    .Remedy("umount " + path));
  }
  if (IsReadOnly(root)) {
    return Fail(Error(Code::kUnavailable, "the store at " + path + " is read-only")
                    .Because("the kernel met an error in the file " + data_path_ + "/" + kStoreFileName +
                             ", or somebody remounted it")
                    .Remedy("look at the kernel's log (dmesg), then umount " + path + " and try again"));
  }
  CAISSON_TRY(const os::QuotaState quotas, os::ReadQuotaState(root));
  if (quotas.mode == os::QuotaMode::kOff) {
    return Fail(Error(Code::kConflict, "the quotas of the store at " + path + " are off")
                    .Because("somebody disabled them, and no limit would hold")
                    .Remedy("end all sandboxes, then umount " + path + ": the next start enables them"));
  }
  CAISSON_CHECK_OK(OpenFolders(root));
  return true;
}

// Everything is ready before the mount can be seen.
Status BtrfsStore::MountFile() {
  CAISSON_CHECK_OK(CheckStoreFile(file_, data_path_));
  CAISSON_TRY(const os::Fd point, OpenFolder(data_, kMountName));
  CAISSON_TRY(const os::LoopDevice device, FindOrAttach(file_));
  auto mount = MountDevice(device.path());
  if (!mount) {
    if (mount.error().code() == Code::kUnsupported || mount.error().errno_value() == ENODEV) {
      return Fail(Error(Code::kUnsupported, "the kernel has no btrfs").Remedy("choose another storage"));
    }
    return Fail(BrokenStoreFile(data_path_, mount.error().message() + ": " + mount.error().cause()));
  }
  const os::Fd root(openat(mount->get(), ".", kDirectory));
  if (!root.valid()) return Fail(BrokenStoreFile(data_path_, Error::FromErrno(errno, "").cause()));
  if (IsReadOnly(root)) return Fail(BrokenStoreFile(data_path_, "the kernel mounts it read-only"));
  CAISSON_CHECK_OK(os::EnableQuotas(root));
  CAISSON_CHECK_OK(OpenFolders(root));
  CAISSON_CHECK_OK(os::AttachOn(*mount, point));
  return MakePrivate(*mount);
}

Status BtrfsStore::OpenFolders(const os::Fd& root) {
  CAISSON_TRY(layers_, OpenFolder(root, "layers"));
  CAISSON_TRY(snapshots_, OpenFolder(root, "snapshots"));
  return {};
}

Status BtrfsStore::MakeRoom(const Promises& promises, Bytes wanted) const {
  CAISSON_TRY(const Space host, HostSpace());
  CAISSON_CHECK_OK(CheckHostReserve(host, promises, wanted, policy_));
  if (!file_.valid()) return {};
  CAISSON_TRY(const Space pool, PoolSpace());
  const Bytes size = StoreSizeFor(pool.size, promises, wanted, policy_);
  return size == pool.size ? Status() : Grow(size);
}

// Each step does nothing when somebody who was interrupted had done it.
Status BtrfsStore::Grow(Bytes size) const {
  CAISSON_TRY(const os::Fd lock, Lock());
  struct stat info{};
  if (fstat(file_.get(), &info) != 0) return Fail(Error::FromErrno(errno, "cannot describe the store file"));
  const bool smaller = static_cast<std::uint64_t>(info.st_size) < size.value;
  if (smaller && ftruncate(file_.get(), static_cast<off_t>(size.value)) != 0) {
    return Fail(Error::FromErrno(
        errno, "cannot grow the store file " + data_path_ + "/" + kStoreFileName + " to " + FormatBytes(size)));
  }
  CAISSON_TRY(const std::optional<os::LoopDevice> device, os::LoopDevice::Find(file_));
  if (!device) return Fail(Error(Code::kUnavailable, "the store file lost its loop device"));
  CAISSON_CHECK_OK(device->AdoptFileSize());
  return os::GrowToDevice(layers_);
}

Result<Space> BtrfsStore::PoolSpace() const { return SpaceOf(layers_); }

Result<Space> BtrfsStore::HostSpace() const { return SpaceOf(data_); }

Result<os::Fd> BtrfsStore::Lock() const {
  os::Fd lock(openat(data_.get(), kLockName, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock.valid()) return Fail(Error::FromErrno(errno, "cannot open " + data_path_ + "/" + kLockName));
  CAISSON_CHECK_OK(os::Lock(lock, LOCK_EX));
  return lock;
}

}  // namespace caisson::storage
