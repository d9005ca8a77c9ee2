#pragma once

#include <string>
#include <vector>

#include "caisson/base/deadline.h"
#include "caisson/base/result.h"
#include "caisson/base/units.h"
#include "caisson/storage/inventory.h"
#include "caisson/storage/uid_blocks.h"

namespace caisson::storage {

enum class Effort {
  kBrief,  // what is at hand; sizes are 0
  kWhole,  // mounts the store when there is one, and measures
};

struct Removed {
  ItemKind kind = ItemKind::kLayer;
  std::string name;
  Bytes freed;  // with Effort::kWhole
};

struct NotRemoved {
  ItemKind kind = ItemKind::kLayer;
  std::string name;
  Error error;
};

struct Collected {
  std::vector<Removed> removed;
  std::vector<NotRemoved> failed;  // left-overs that could not be removed, or not in time
  std::vector<NotRemoved> kept;    // only of Purge: what is not Caisson's, or not this installation's, to remove
};

// Removes what nobody owns any more: writable layers without a lock, images of older host settings that nobody uses,
// images half-made by a process that died, cgroups without an owner. Takes an item's lock before it touches it, so that
// nothing in use is ever taken; a cgroup that holds a process counts as in use, since the kernel ends those of a dead
// launcher by itself. What is not done by the deadline is left for the next time. Safe against others that do the same.
// Errors: cgroups or lock files cannot be read; with them nothing is half done.
Result<Collected> CollectLeftOvers(const Places& places, const Deadline& deadline, Effort effort);

// The part of it that lies in the data folder.
Collected CollectFolders(const Places& places, const Deadline& deadline, Effort effort);

// Removes the cgroups without an owner alone. `blocks`: an own description of the lock file, or nullptr where there is
// none.
Status CollectCgroups(UidBlocks* blocks, const Deadline& deadline, Collected& collected);

}  // namespace caisson::storage
