#pragma once

#include <optional>
#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/base/units.h"
#include "caisson/os/fd.h"

namespace caisson::storage {

// All that the upkeep of the data folder knows of a store: a file system of Caisson's own in the file `store.img`,
// mounted at `store`. The file's own driver makes it; what a new kind of store needs counted or taken down is added
// here.

struct StoreUsage {
  Bytes size;       // of the file, holes included
  Bytes allocated;  // on the disk
  Bytes used;       // inside, as its file system counts; 0 when it is not mounted
};

// Nothing when there is no file.
std::optional<StoreUsage> ReadStore(const os::Fd& data);

// The names below `data` that other mounts of this mount namespace lie at: what has to go before the folder can.
std::vector<std::string> MountsIn(const os::Fd& data);

// True when a folder is the root of a mount. Kernel: 5.8; an older one cannot tell and says false.
bool IsMountPoint(const os::Fd& folder);

// Takes one of them down; the kernel then lets go of the loop device below it. Errors: EBUSY while somebody uses it.
Status UnmountIn(const os::Fd& data, const std::string& name);

}  // namespace caisson::storage
