#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/launcher/host_trees.h"
#include "caisson/launcher/slot.h"
#include "caisson/os/fd.h"
#include "caisson/os/process.h"
#include "caisson/plan/launch_plan.h"

namespace caisson::launcher {

// A failure with the step it happened in: what a LaunchReply carries.
struct StepError {
  plan::Step step = plan::Step::kNone;
  int errno_value = 0;
  std::string message;
};

// Descriptors that came with a create request. Owned.
struct LaunchInputs {
  os::Fd control;    // the guest's end
  os::Fd image;      // with Image::kDirectory
  os::Fd workspace;  // with a workspace
};

// One running sandbox as the launcher knows it.
struct Launched {
  Slot slot;
  os::PidFd guest;
  std::string folder;  // of the writable layer below `sandboxes`, empty with tmpfs
  os::Fd folder_lock;
};

// Starts one sandbox: makes its mounts, clones the guest into the slot's cgroups and namespaces and waits until its root
// is built. On failure nothing of it is left but the slot's own parts and, named by `folder`, its writable layer.
class Launch {
 public:
  Launch(const HostTrees& trees, const os::Fd& own_network, const os::Fd& own_cgroups)
      : trees_(trees), own_network_(own_network), own_cgroups_(own_cgroups) {}

  struct Folder {
    std::string name;
    os::Fd lock;
  };
  // `folder` is filled as soon as the writable layer has one.
  tl::expected<os::PidFd, StepError> Run(const plan::LaunchPlan& plan, const Slot& slot, LaunchInputs inputs,
                                         Folder& folder);

 private:
  const HostTrees& trees_;
  const os::Fd& own_network_;
  const os::Fd& own_cgroups_;
};

}  // namespace caisson::launcher
