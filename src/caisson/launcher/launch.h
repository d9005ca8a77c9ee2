#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/launcher/host_trees.h"
#include "caisson/launcher/slot.h"
#include "caisson/launcher/storage_link.h"
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
  os::Fd changes;    // the storage process's end of the connection on which changes are asked for
  os::Fd image;      // with Image::kDirectory
  os::Fd workspace;  // with a workspace
  os::Fd copy;       // its lock, when it is a copy that shares the layer's fate; may be invalid
};

// One running sandbox as the launcher knows it.
struct Launched {
  Slot slot;
  os::PidFd guest;
};

// Kills the first process of a sandbox, with which every other in its namespace ends, and reaps it. At most 5 s: one
// that does not end by then keeps its uids, which the keeper sees by its cgroups.
void EndFirstProcess(const os::PidFd& process);

// A process in the namespaces and cgroups of its slot that waits to become a sandbox. Made ahead of time: it knows
// nothing of what it will be. Destroying it ends it.
class Embryo {
 public:
  Embryo(Slot slot, os::PidFd process, os::Fd orders, os::Fd report)
      : slot_(std::move(slot)), process_(std::move(process)), orders_(std::move(orders)), report_(std::move(report)) {}
  Embryo(Embryo&&) = default;
  Embryo& operator=(Embryo&&) = delete;
  Embryo(const Embryo&) = delete;
  Embryo& operator=(const Embryo&) = delete;
  ~Embryo();

  const Slot& slot() const { return slot_; }
  const os::Fd& orders() const { return orders_; }
  const os::Fd& report() const { return report_; }
  // Once it is a guest.
  Slot TakeSlot() { return std::move(slot_); }
  os::PidFd TakeProcess() { return std::move(process_); }

 private:
  Slot slot_;
  os::PidFd process_;
  os::Fd orders_;
  os::Fd report_;
};

// What a sandbox's root is made of.
struct Mounts {
  os::DetachedMount root;
  std::vector<HostTrees::ProgramFolder> folders;
  os::DetachedMount workspace;
};

// Starts sandboxes: first an embryo, then, when it is known what for, its mounts, of which the guest builds its root.
class Launch {
 public:
  Launch(const HostTrees& trees, StorageLink& storage) : trees_(trees), storage_(storage) {}

  // Clones a process into the slot's cgroups and namespaces. On failure the slot is still the caller's.
  tl::expected<Embryo, StepError> Prepare(Slot& slot) const;

  // Makes the sandbox's mounts and gives them to the embryo, and lets its changes be watched. Of files that were kept
  // the workspace comes with them. On failure nothing is left but the slot and, at the storage process, its layer. What
  // is attached of it is detached by DetachLayers.
  std::optional<StepError> Begin(const plan::LaunchPlan& plan, const Embryo& embryo, LaunchInputs& inputs) const;
  // Once the embryo's report is readable: it is a guest with its root now, or what failed.
  static std::optional<StepError> ReadReport(const Embryo& embryo);

 private:
  std::string ImageName(const plan::LaunchPlan& plan, const StorageLink::Layer& layer) const;
  tl::expected<Mounts, StepError> MakeMounts(const plan::LaunchPlan& plan, const Slot& slot, const LaunchInputs& inputs,
                                             StorageLink::Layer layer) const;

  const HostTrees& trees_;
  StorageLink& storage_;
};

}  // namespace caisson::launcher
