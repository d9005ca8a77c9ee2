#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "caisson/os/fd.h"
#include "caisson/plan/change.h"
#include "caisson/storage/upper_tree.h"

namespace caisson::storage {

// The writable layer of one sandbox as it was when it was last looked at: what changed since is the difference. Holds
// up to kMaxTrackedEntries entries in memory; in a layer with more, changes can be missed, and every list says so.
// Not thread-safe.
class TrackedLayer {
 public:
  struct Overlay {
    std::string shown_at;  // where the overlay is in the sandbox: "" for the root, "/home/agent/workspace"
    os::Fd upper;          // folders, opened for reading
    os::Fd lower;
  };

  // What `overlays` hold now is what the next report compares with; with kEmptyUppers everything in them is a change.
  enum class Start { kNow, kEmptyUppers };
  TrackedLayer(std::vector<Overlay> overlays, Start start);

  // What changed since the last call, and what there is now is remembered.
  plan::ChangeList Report();

  // The two sides of a file that a report named, for a comparison of their content. Invalid where there is none.
  struct Sides {
    os::Fd before;  // as the lower layer has it at this path
    os::Fd after;
  };
  Sides Open(const std::string& path);

 private:
  struct Tracked {
    std::string shown_at;
    TreeReader upper;
    TreeReader lower;
    UpperEntry seen;
  };
  std::vector<Tracked> overlays_;
  bool incomplete_ = false;  // of the last time it was read
};

inline constexpr std::uint64_t kMaxTrackedEntries = 262'144;

}  // namespace caisson::storage
