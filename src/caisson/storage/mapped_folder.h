#pragma once

#include <cstdint>

#include "caisson/base/result.h"
#include "caisson/os/mount.h"

namespace caisson::storage {

// Folders as a sandbox sees them: with the ids of its block, which begins at `first_id` (uid_blocks.h). `tree` is a
// mount that is attached nowhere. Errors: kUnsupported when its file system has no id-mapped mounts.

// The root file system of an image: its ids are the sandbox's.
Status MapImage(const os::DetachedMount& tree, std::uint32_t first_id);

// The layer of a sandbox that had the block from `kept_first_id` on when it was made. Root's stay root's.
Status MapLayer(const os::DetachedMount& tree, std::uint32_t kept_first_id, std::uint32_t first_id);

// A folder of the host: its owner's files belong to `agent`, those of all others to ids that are nobody's inside.
Status MapWorkspace(const os::DetachedMount& tree, std::uint32_t first_id);

}  // namespace caisson::storage
