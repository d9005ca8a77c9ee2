#pragma once

#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/launcher/storage_link.h"
#include "caisson/os/mount.h"
#include "caisson/plan/launch_plan.h"

namespace caisson::launcher {

// Where mounts are attached in the launcher's namespace for as long as it takes to make others of them.
inline constexpr const char* kLowerPoint = "/lower";
inline constexpr const char* kLayerPoint = "/layer";

// The writable layer of a sandbox as its overlays use it: folders for their upper and work directories.
class OverlayMaker {
 public:
  // kKept: the layer has the upper folders of overlays before, of the same names.
  enum class Upper { kNew, kKept };
  OverlayMaker(os::DetachedMount layer, Upper upper) : layer_(std::move(layer)), upper_(upper) {}

  // An overlay of `lower` with this layer's folders upper_`name` and work_`name`; the merged root belongs to `owner`.
  // Options: redirect_dir=on so that a lower folder can be renamed; metacopy and index off, since both trust the
  // upper more than a hostile writer deserves; volatile, since what outlives the sandbox is written to the disk as a
  // whole. `lower` is used up.
  Result<os::DetachedMount> Overlay(const os::DetachedMount& lower, const std::string& name, std::uint32_t owner);

  // Of the overlays made so far, in their order.
  const std::vector<OverlayFolders>& folders() const { return folders_; }

 private:
  Status AttachLayers(const os::DetachedMount& lower);

  os::DetachedMount layer_;
  Upper upper_;
  bool is_attached_ = false;
  std::vector<OverlayFolders> folders_;
};

// Takes away what is attached at those points of the launcher's mount namespace. It costs a grace period of the kernel,
// so it is done when nobody waits, and before the next process is cloned.
void DetachLayers();

}  // namespace caisson::launcher
