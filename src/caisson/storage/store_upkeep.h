#pragma once

#include <optional>
#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/base/units.h"
#include "caisson/os/fd.h"
#include "caisson/storage/btrfs_layers.h"

namespace caisson::storage {

// All that the upkeep of the data folder knows of a store of writable layers (btrfs_store.h): a file system of
// Caisson's own in the file `store.img`, mounted at `store`, or the data folder's own. What a new kind of store needs
// counted, collected or taken down is added here.

struct StoreUsage {
  Bytes size;       // of the file, holes included
  Bytes allocated;  // on the disk
  Bytes used;       // inside, as its file system counts; 0 when it is not mounted
};

// Nothing when there is no file.
std::optional<StoreUsage> ReadStore(const os::Fd& data);

// The folder of its layers, which are locked as those of sandbox_folders.h are. Invalid when there is none, or when its
// file is not mounted.
os::Fd OpenStoreLayers(const os::Fd& data);

enum class MountStore { kNo, kIfNeeded };

// The layers of the store, for removing them. Nothing when there is no store, or with kNo none at hand.
Result<std::optional<BtrfsLayers>> OpenStore(const os::Fd& data, const std::string& data_path, MountStore mount);

// The names below `data` that other mounts of this mount namespace lie at: what has to go before the folder can.
std::vector<std::string> MountsIn(const os::Fd& data);

// True when a folder is the root of a mount. Kernel: 5.8; an older one cannot tell and says false.
bool IsMountPoint(const os::Fd& folder);

// Takes one of them down; the kernel then lets go of the loop device below it. Errors: EBUSY while somebody uses it.
Status UnmountIn(const os::Fd& data, const std::string& name);

}  // namespace caisson::storage
