#pragma once

#include <cstdint>

#include "caisson/plan/launch_plan.h"

namespace caisson::launcher {

// What a new process needs to become the embryo of a sandbox: everything that does not depend on what the sandbox is
// for. Made before the process exists, which is a copy of the launcher: until it is a guest, nothing allocates, locks
// or logs.
struct ChildPlan {
  int orders = -1;              // a packet socket: one byte when the id maps are written, then one BuildOrder
  int report = -1;              // takes a ChildFailure when a step fails; closes when all went well
  int tasks[3] = {-1, -1, -1};  // cgroup v1 `tasks` files, -1: cgroup2 did it at birth
  int devices = -1;             // a detached mount
  const char* hostname = nullptr;
};

inline constexpr int kMaxFolders = 8;

// What it then waits for, to become a sandbox. Descriptors: [control socket] [root] [workspace if there is one] and the
// folders to mount in the root, in the order of their names.
struct BuildOrder {
  std::uint32_t has_workspace = 0;
  std::uint32_t folder_count = 0;
  std::uint32_t shm_is_noexec = 0;
  char folders[kMaxFolders][16] = {};
  char shm_size[24] = {};  // mount options, as text
  char shm_inodes[24] = {};
};

struct ChildFailure {
  plan::Step step;
  std::int32_t error;  // errno
};

// Makes the calling process, the first of its namespaces, an embryo: cgroups, identity, its own proc and dev; then
// waits for the order and makes it the root of a sandbox with no descriptor but the control socket, which is 3 then.
// Returns when it is; a step that fails is reported and ends the process, and so does a launcher that closes the
// socket.
void BuildSandbox(const ChildPlan& plan);

}  // namespace caisson::launcher
