#pragma once

#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/base/units.h"
#include "caisson/os/btrfs.h"
#include "caisson/os/fd.h"
#include "caisson/storage/btrfs_store.h"

namespace caisson::storage {

// What a layer and its snapshots hold together, as of the file system's last commit, and may hold.
struct LayerUsage {
  Bytes used;
  Bytes limit;
};

// What the whole store holds and has promised.
struct PoolUsage {
  Space pool;
  Space host;
  Promises promises;
};

// The writable layers of sandboxes: subvolumes of a store, each with a limit in bytes that the kernel holds (EDQUOT),
// which counts its snapshots too. A layer is locked by who uses it, as in sandbox_folders.h: the kernel drops the lock
// with the last descriptor, and an unlocked layer is a left-over. Names of layers and snapshots: 1 to 64 of
// [A-Za-z0-9_.-], no dot first; anything else is kInvalidArgument. One thread; any number of processes.
class BtrfsLayers {
 public:
  static constexpr Bytes kSmallestLimit = MiB(1);

  explicit BtrfsLayers(BtrfsStore store) : store_(std::move(store)) {}

  // Makes an empty folder, 0700 of root, and locks it until the last copy of the descriptor closes. Commits nothing.
  // Errors: kAlreadyExists; kResourceExhausted when the host has no room; nothing is left of one that failed.
  Result<os::Fd> CreateLayer(const std::string& name, Bytes limit);
  // Makes a read-only copy of a layer, in constant time but for what is not written yet, and opens it. The caller keeps
  // everybody from writing meanwhile. Charged to the layer's limit.
  Result<os::Fd> Snapshot(const std::string& layer, const std::string& name);
  Status DeleteSnapshot(const std::string& layer, const std::string& name);
  // Takes the layer with its snapshots away; only its owner may. Who still has files of it open can write no more to
  // them. The kernel gives the space back within a minute of the last descriptor's end; CollectGroups then removes what
  // counted it. One that does not exist is not an error.
  Status DeleteLayer(const std::string& name);

  Result<LayerUsage> Usage(const std::string& name) const;
  Result<PoolUsage> Pool() const;
  // Names, sorted.
  std::vector<std::string> ListLayers() const;
  Result<std::vector<std::string>> ListSnapshots(const std::string& layer) const;

  const BtrfsStore& store() const { return store_; }

  // Deletes every layer that nobody has locked and that is not kept (kept_layer.h), and collects groups. Does nothing
  // while somebody else makes a layer; what cannot be deleted stays for the next time.
  void RemoveLeftOvers();
  // Removes the quota groups that killed processes left, and those of deleted layers once their space is given back.
  // Does nothing while somebody else makes a layer. Returns how many are left.
  std::size_t CollectGroups();

 private:
  Result<os::QuotaGroup> MakeGroup(Bytes limit);
  Result<os::Fd> MakeSubvolume(const std::string& name, os::QuotaGroup group);
  Result<os::QuotaGroup> GroupOf(const os::Fd& subvolume, const std::string& name) const;
  Result<Promises> ReadPromises() const;
  Status DeleteSnapshots(const std::string& layer);
  Status Seal(os::QuotaGroup group);
  std::size_t CollectGroupsLocked();

  BtrfsStore store_;
};

}  // namespace caisson::storage
