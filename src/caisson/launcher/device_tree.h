#pragma once

#include "caisson/base/result.h"
#include "caisson/os/mount.h"

namespace caisson::launcher {

// The `/dev` that every sandbox gets a read-only copy of: null, zero, full, random, urandom, tty, the usual links, and
// the mount points pts and shm. Needs CAP_MKNOD.
Result<os::DetachedMount> MakeDeviceTree();

}  // namespace caisson::launcher
