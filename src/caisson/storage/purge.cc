#include "caisson/storage/purge.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "caisson/os/btrfs.h"
#include "caisson/os/folder_lock.h"
#include "caisson/storage/remove_tree.h"
#include "caisson/storage/store_upkeep.h"
#include "caisson/storage/tree_usage.h"

namespace caisson::storage {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
// The kernel gives back a deleted layer within a minute.
constexpr std::chrono::seconds kEndOfGroups{60};
const Deadline kNoDeadline(Deadline::Clock::time_point::max());

// What is in these folders of the data folder are items, each told by its name.
struct ItemFolder {
  const char* name;
  ItemKind kind;
};
constexpr ItemFolder kItemFolders[] = {
    {"images", ItemKind::kImage}, {"sandboxes", ItemKind::kLayer}, {"copies", ItemKind::kCopy}};

Error StillInUse(const std::vector<std::uint32_t>& blocks) {
  std::string names;
  for (const std::uint32_t block : blocks) names += (names.empty() ? "s" : ", s") + std::to_string(block);
  Error error = Error(Code::kConflict, "Caisson is in use on this host");
  if (names.empty()) {
    return std::move(error)
        .Because("an engine has the data folder open")
        .Remedy("end it, then purge again")
        .Retryable();
  }
  return std::move(error)
      .Because("these sandboxes live or wait to be used: " + names)
      .Remedy("end them, then purge again; the processes of s1 are in the cgroup caisson/s1")
      .Detail("sandboxes", names)
      .Retryable();
}

class Purger {
 public:
  Purger(const Places& places, PurgeMode mode) : places_(places), mode_(mode) {}

  // Takes every lock that a living engine or sandbox would hold.
  Status TakeLocks() {
    std::vector<std::uint32_t> taken;
    if (places_.runtime.valid()) {
      CAISSON_TRY(blocks_, UidBlocks::OpenExisting(places_.runtime));
      if (blocks_) taken = blocks_->TakenByOthers();
    }
    if (places_.data.valid()) {
      auto lock = os::LockFolder(places_.data, LOCK_EX | LOCK_NB);
      if (!lock && lock.error().errno_value() != EWOULDBLOCK) return Fail(std::move(lock).error());
      if (!lock) return Fail(StillInUse(taken));
      data_lock_ = *std::move(lock);
    }
    if (!taken.empty()) return Fail(StillInUse(taken));
    return {};
  }

  Status Cgroups() {
    if (mode_ == PurgeMode::kRemove) {
      CAISSON_CHECK_OK(CollectCgroups(blocks_ ? &*blocks_ : nullptr, kNoDeadline, collected_));
    }
    CAISSON_TRY(const std::optional<os::Cgroup> cgroups, FindCgroups());
    if (!cgroups) return {};
    CAISSON_TRY(const auto children, cgroups->Children());
    for (const os::Cgroup::Child& child : children) {
      if (mode_ == PurgeMode::kShow && child.ownership == os::Cgroup::Ownership::kNone) {
        collected_.removed.push_back({ItemKind::kCgroup, child.name, {}});
      } else {
        const Error error = Error(Code::kConflict, "the cgroup " + child.name + " is in use")
                                .Because("another installation of Caisson on this host has it");
        collected_.kept.push_back({ItemKind::kCgroup, child.name, error});
      }
    }
    return {};
  }

  void DataFolder(const std::string& path) {
    if (!places_.data.valid()) return;
    StoreOfTheDataFolder();
    if (ReadStore(places_.data)) {
      // They go with the store's file, which counts what they hold.
      for (const std::string& name : os::NamesIn(OpenStoreLayers(places_.data))) {
        collected_.removed.push_back({ItemKind::kLayer, name, {}});
      }
    }
    for (const std::string& name : MountsIn(places_.data)) {
      Do(ItemKind::kMount, path + "/" + name, {}, [&] { return UnmountIn(places_.data, name); });
    }
    for (const auto& [folder, kind] : kItemFolders) {
      const os::Fd open(openat(places_.data.get(), folder, kDirectory));
      if (!open.valid()) continue;
      for (const std::string& name : os::NamesIn(open)) Remove(open, name, name, kind, AllocatedBy(open, name.c_str()));
    }
    Empty(places_.data, path);
    Folder(places_.data, path);
  }

  // Of a store in a file, all goes with the file. In the data folder's own file system its subvolumes and quota groups
  // have to go one by one, and the groups only when the kernel has given back what they count.
  void StoreOfTheDataFolder() {
    if (mode_ == PurgeMode::kShow || ReadStore(places_.data)) return;
    auto store = OpenStore(places_.data, places_.data_path, MountStore::kNo);
    if (store && !*store) return;
    if (!store) {
      collected_.failed.push_back({ItemKind::kFolder, "layers", store.error()});
      return;
    }
    for (const std::string& name : (*store)->ListLayers()) {
      Do(ItemKind::kLayer, name, {}, [&] { return (*store)->DeleteLayer(name); });
    }
    (*store)->RemoveLeftOvers();
    const Deadline deadline = Deadline::In(kEndOfGroups);
    while ((*store)->CollectGroups() > 0 && !deadline.Passed()) {
      (void)os::SyncFileSystem(places_.data);
      poll(nullptr, 0, 100);
    }
    if (const std::size_t left = (*store)->CollectGroups(); left > 0) {
      const Error error(Code::kConflict, std::to_string(left) + " quota groups still count deleted layers");
      collected_.failed.push_back({ItemKind::kFolder, "layers", error});
    }
  }

  void RuntimeFolder(const std::string& path) {
    if (!places_.runtime.valid()) return;
    Empty(places_.runtime, path);
    Folder(places_.runtime, path);
  }

  Collected& collected() { return collected_; }

 private:
  template <typename Act>
  void Do(ItemKind kind, const std::string& name, Bytes freed, const Act& act) {
    const Status status = mode_ == PurgeMode::kShow ? Status() : act();
    if (status) {
      collected_.removed.push_back({kind, name, freed});
    } else {
      collected_.failed.push_back({kind, name, status.error()});
    }
  }

  // A file or a folder with all it holds.
  void Remove(const os::Fd& parent, const std::string& name, const std::string& shown, ItemKind kind, Bytes freed) {
    Do(kind, shown, freed, [&]() -> Status {
      struct stat info{};
      if (fstatat(parent.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return {};
      if (S_ISDIR(info.st_mode)) return RemoveTree(parent.get(), name.c_str());
      if (unlinkat(parent.get(), name.c_str(), 0) == 0 || errno == ENOENT) return {};
      return Fail(Error::FromErrno(errno, "cannot remove " + name));
    });
  }

  void Empty(const os::Fd& folder, const std::string& path) {
    for (const std::string& name : os::NamesIn(folder)) {
      struct stat info{};
      const bool is_folder =
          fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode);
      // Where what it holds is an item of its own, that has been counted.
      const bool counted = is_folder && std::any_of(std::begin(kItemFolders), std::end(kItemFolders),
                                                    [&](const ItemFolder& items) { return name == items.name; });
      Remove(folder, name, path + "/" + name, is_folder ? ItemKind::kFolder : ItemKind::kFile,
             counted ? Bytes{} : AllocatedBy(folder, name.c_str()));
    }
  }

  void Folder(const os::Fd& folder, const std::string& path) {
    if (IsMountPoint(folder)) {
      const Error error = Error(Code::kConflict, "the folder " + path + " stays, empty").Because("it is a mount");
      collected_.kept.push_back({ItemKind::kFolder, path, error});
      return;
    }
    Do(ItemKind::kFolder, path, {}, [&]() -> Status {
      const os::Fd again(open(path.c_str(), kDirectory));
      if (!again.valid() || !os::IsStillAt(folder, again, ".")) return {};
      if (rmdir(path.c_str()) == 0 || errno == ENOENT) return {};
      return Fail(Error::FromErrno(errno, "cannot remove the folder " + path));
    });
  }

  const Places& places_;
  PurgeMode mode_;
  os::Fd data_lock_;
  std::optional<UidBlocks> blocks_;
  Collected collected_;
};

}  // namespace

Result<Collected> Purge(const Places& places, const std::string& data_path, const std::string& runtime_path,
                        PurgeMode mode) {
  Purger purger(places, mode);
  CAISSON_CHECK_OK(purger.TakeLocks());
  CAISSON_CHECK_OK(purger.Cgroups());
  purger.DataFolder(data_path);
  purger.RuntimeFolder(runtime_path);
  return std::move(purger.collected());
}

Status LockForUse(const os::Fd& data, const std::string& data_path) {
  const auto unavailable = [](const char* why) {
    return Fail(
        Error(Code::kUnavailable, "the data folder is being removed").Because(why).Remedy("try again").Retryable());
  };
  if (const Status locked = os::Lock(data, LOCK_SH | LOCK_NB); !locked) {
    if (locked.error().errno_value() == EWOULDBLOCK) return unavailable("`caisson purge` runs");
    return Fail(locked.error());
  }
  const os::Fd named(open(data_path.c_str(), kDirectory));
  if (!named.valid() || !os::IsStillAt(data, named, ".")) return unavailable("`caisson purge` has run");
  return {};
}

}  // namespace caisson::storage
