#pragma once

#include <cstdint>

#include "caisson/plan/launch_plan.h"

namespace caisson::launcher {

// Everything the new process needs, made before it exists: until it is a guest, nothing allocates, locks or logs.
// Descriptors and pointers are borrowed from the launcher, of which the process is a copy.
struct ChildPlan {
  int go = -1;      // reads one byte when the id maps are written
  int report = -1;  // takes a ChildFailure when a step fails; closes when all went well
  int control = -1;
  int tasks[3] = {-1, -1, -1};  // cgroup v1 `tasks` files, -1: cgroup2 did it at birth

  int root = -1;  // detached mounts from here on
  struct Folder {
    int mount;
    const char* name;
  };
  Folder folders[8] = {};
  int folder_count = 0;
  int devices = -1;
  int workspace = -1;  // -1: none

  const char* shm_size = nullptr;  // mount options, as text
  const char* shm_inodes = nullptr;
  const char* hostname = nullptr;
};

struct ChildFailure {
  plan::Step step;
  std::int32_t error;  // errno
};

// Makes the calling process, the first of its namespaces, the root of a new sandbox: cgroups, identity, mounts, and no
// descriptor but the control socket, which is 3 then. Returns when it is; a step that fails is reported and ends the process.
void BuildSandbox(const ChildPlan& plan);

}  // namespace caisson::launcher
