#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "caisson/os/cgroup.h"
#include "caisson/os/fd.h"

namespace caisson::launcher {

// What a sandbox needs that does not depend on what it is for, made ahead of time by the keeper: a block of uids, the
// user namespace of its id map, a network and a cgroup namespace, and its cgroups.
struct Slot {
  std::uint32_t block = 0;
  os::Fd user_namespace;
  os::Fd network_namespace;  // invalid with Expect::kOneSandbox: the launcher makes that one meanwhile
  os::Fd cgroup_namespace;
  os::Cgroup sandbox;     // holds the limits
  os::Cgroup guest;       // PID 1, with a larger share of the processor than a command's
  os::Cgroup first_leaf;  // of the first command, named by LeafName(1)
};

inline std::string LeafName(std::uint32_t leaf) { return "c" + std::to_string(leaf); }

// The uid of PID 1 inside; no command ever has it.
inline constexpr std::uint32_t kGuestId = 60000;

}  // namespace caisson::launcher
