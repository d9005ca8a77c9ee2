#pragma once

#include <cstdint>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/os/cgroup.h"
#include "caisson/os/fd.h"

namespace caisson::launcher {

// The descriptors of one command's cgroup, in the order plan/launch_plan.h gives.
struct LeafFds {
  std::vector<os::Fd> engine;
  std::vector<os::Fd> guest;
};

// Makes `leaf`, a child of `sandbox`, ready for a command: its processes limit is a share of the sandbox's, so that a
// fork bomb leaves room for the next step, and the guest that runs as `guest_uid` may start processes in it.
Result<LeafFds> OpenLeaf(const os::Cgroup& leaf, const os::Cgroup& sandbox, std::uint32_t sandbox_pids,
                         std::uint32_t guest_uid);

// The share of a sandbox's processes that one command may have: all but an eighth, at least 1 and at most all but 8.
std::uint32_t LeafPids(std::uint32_t sandbox_pids);

}  // namespace caisson::launcher
