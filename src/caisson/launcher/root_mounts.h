#pragma once

#include <optional>
#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/launcher/host_trees.h"
#include "caisson/launcher/slot.h"
#include "caisson/os/mount.h"
#include "caisson/plan/launch_plan.h"

namespace caisson::launcher {

// The writable layer of a sandbox: folders for the upper and work directories of its overlays.
class WritableLayer {
 public:
  // In a tmpfs of its own, at most `disk_bytes` and half of `memory_bytes`, since its pages count as the sandbox's
  // memory: a full disk must come before the memory limit.
  static Result<WritableLayer> MakeTmpfs(const plan::LaunchPlan& plan, std::uint32_t first_id);
  // In a folder named `name` below `sandboxes`, locked as long as this object or its `TakeFolder` lives.
  static Result<WritableLayer> MakeFolder(const os::Fd& sandboxes, const std::string& name);

  // An overlay of `lower` with this layer's folders upper_`name` and work_`name`; the merged root belongs to `owner`.
  // Options: redirect_dir=on so that a lower folder can be renamed; metacopy and index off, since both trust the
  // upper more than a hostile writer deserves; volatile, since nothing of it outlives the sandbox. `lower` is used up.
  Result<os::DetachedMount> Overlay(const os::DetachedMount& lower, const std::string& name, std::uint32_t owner);

  os::Fd TakeFolder() && { return std::move(folder_); }

 private:
  enum class Place { kDetached, kAttachedHere, kAttachedElsewhere };
  WritableLayer(os::Fd folder, Place place) : folder_(std::move(folder)), place_(place) {}
  Status AttachLayers(const os::DetachedMount& lower);

  os::Fd folder_;  // of a tmpfs this also holds the mount
  Place place_;
};

// Takes away what Overlay attached in the launcher's mount namespace. It costs a grace period of the kernel, so it is
// done when nobody waits, and before the next process is cloned.
void DetachLayers();

// The workspace folder as the sandbox sees it: its owner's files belong to `agent`, those of all others to ids that are
// nobody's inside. Errors: kUnsupported when its file system has no id-mapped mounts.
Result<os::DetachedMount> MapWorkspace(const HostTrees& trees, const os::Fd& workspace, std::uint32_t first_id);

}  // namespace caisson::launcher
