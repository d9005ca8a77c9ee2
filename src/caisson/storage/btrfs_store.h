#pragma once

#include <optional>
#include <string>

#include "caisson/base/result.h"
#include "caisson/base/units.h"
#include "caisson/os/fd.h"

namespace caisson::storage {

enum class IfMissing { kCreate, kFail };

// How much the store may take from the host.
struct StorePolicy {
  Bytes first_size = GiB(4);  // of a new store file, which is sparse
  Bytes growth_step = GiB(1);
  // The host's file system keeps the larger of the two free, whatever the layers do.
  Bytes reserve = GiB(1);
  unsigned reserve_percent = 5;
};

// What the layers that exist may take, by their limits.
struct Promises {
  Bytes total;  // all they may hold
  Bytes rest;   // of that, what they do not hold yet
};

// What a file system has.
struct Space {
  Bytes size;
  Bytes free;
};

// The size the store needs so that one more layer of `wanted` bytes fits beside the promises; not above `pool` when it
// fits already. With metadata that no layer is charged for.
Bytes StoreSizeFor(Bytes pool, const Promises& promises, Bytes wanted, const StorePolicy& policy);

// Refuses a layer that the host's file system could not hold beside what is promised and its reserve.
// Errors: kResourceExhausted with the numbers.
Status CheckHostReserve(const Space& host, const Promises& promises, Bytes wanted, const StorePolicy& policy);

// The btrfs file system of the writable layers: that of the data folder when its quotas are on, else the store file
// `store.img` of the data folder, mounted at its `store`. It holds the folders `layers` and `snapshots`, and its quotas
// are on. Any number of processes may have it open; the mount stays when they end. Needs root and the host's mount
// namespace; one thread. Kernel: 5.14.
class BtrfsStore {
 public:
  // Finds the store, mounting and making it as needed, under a lock. `data_path` is the absolute path of `data`, for
  // errors. Errors: kNotFound when it is missing and may not be created; kUnsupported without btrfs or mkfs.btrfs;
  // kUnavailable when it is damaged or read-only, never repaired by making a new one; kPermissionDenied when others
  // could have changed the file; kConflict when something else is mounted or attached in its place.
  static Result<BtrfsStore> Open(const os::Fd& data, const std::string& data_path, IfMissing if_missing,
                                 const StorePolicy& policy = {});

  // Sees to it that a layer of `wanted` bytes fits; grows the store file. The caller keeps others from promising
  // meanwhile. Errors: kResourceExhausted.
  Status MakeRoom(const Promises& promises, Bytes wanted) const;
  Result<Space> PoolSpace() const;
  Result<Space> HostSpace() const;

  // Whether nobody else has files in this file system.
  bool is_own() const { return file_.valid(); }
  const os::Fd& layers() const { return layers_; }
  const os::Fd& snapshots() const { return snapshots_; }

 private:
  BtrfsStore(os::Fd data, std::string data_path, StorePolicy policy)
      : data_(std::move(data)), data_path_(std::move(data_path)), policy_(policy) {}

  Status UseDataFolder();
  Status UseFile(IfMissing if_missing);
  Result<bool> UseMounted();
  Status MountFile();
  Status OpenFolders(const os::Fd& root);
  Status Grow(Bytes size) const;
  Result<os::Fd> Lock() const;

  os::Fd data_;
  std::string data_path_;
  StorePolicy policy_;
  os::Fd file_;  // not valid when the data folder's own file system is the store
  os::Fd layers_;
  os::Fd snapshots_;
};

}  // namespace caisson::storage
