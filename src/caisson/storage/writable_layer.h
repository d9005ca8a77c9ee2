#pragma once

#include <string>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/os/mount.h"
#include "caisson/plan/layer_plan.h"

namespace caisson::storage {

// The writable layer of one sandbox, which its overlays put their upper and work folders in. Move-only; it lives until
// Remove.
class WritableLayer {
 public:
  // `sandboxes`: the folder of the data folder in which layers on disk lie. On failure nothing is left behind.
  static Result<WritableLayer> Make(const os::Fd& sandboxes, const plan::StorageRequest& request);

  // Its folder as a mount that is attached nowhere.
  Result<os::DetachedMount> Mount() const;
  // A folder on whose file system ChangeWatch can watch for this layer's changes. Errors: kUnsupported when others use
  // that file system too.
  Result<os::Fd> WatchPoint() const;
  // Whether a program that writes now is told that there is no room.
  bool IsFull() const;
  // Whether Remove takes no time worth speaking of. It may take as long as the layer has files.
  bool IsQuicklyRemoved() const;
  void Remove() &&;

 private:
  WritableLayer(plan::Storage storage, std::string name, os::Fd folder, int sandboxes)
      : storage_(storage), name_(std::move(name)), folder_(std::move(folder)), sandboxes_(sandboxes) {}

  plan::Storage storage_;
  std::string name_;
  os::Fd folder_;  // of a tmpfs its mount, of a layer on disk its owner's lock
  int sandboxes_;  // borrowed
};

}  // namespace caisson::storage
