#pragma once

#include "caisson/base/units.h"
#include "caisson/os/fd.h"

namespace caisson::storage {

// What the file or folder `name` below `directory` takes on its disk, with everything in it: blocks that are allocated,
// so that holes count nothing, and each file once however many names it has. The content is hostile and may change
// meanwhile: links are not followed, any depth works with a handful of descriptors, and what vanishes counts nothing.
// Stays on one file system.
Bytes AllocatedBy(const os::Fd& directory, const char* name);

}  // namespace caisson::storage
