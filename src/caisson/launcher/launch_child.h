#pragma once

#include <cstdint>

#include "caisson/plan/launch_plan.h"

namespace caisson::launcher {

// Everything the new process needs, made before it exists: between clone and exec nothing allocates, locks or logs.
// Descriptors and pointers are borrowed from the launcher, of which the process is a copy.
struct ChildPlan {
  int go = -1;      // reads one byte when the id maps are written
  int report = -1;  // takes a ChildFailure when a step fails; closes on exec
  int control = -1;
  int guest = -1;  // the guest program, on a read-only mount
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

// Turns the process into the guest of a new sandbox. Never returns: executes the guest, or reports and exits.
[[noreturn]] void RunChild(const ChildPlan& plan);

}  // namespace caisson::launcher
