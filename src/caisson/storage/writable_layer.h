#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/os/mount.h"
#include "caisson/plan/layer_plan.h"
#include "caisson/storage/btrfs_layers.h"

namespace caisson::storage {

// Where the layers on disk lie.
class LayerPlaces {
 public:
  // `data`: the data folder.
  static Result<LayerPlaces> Open(os::Fd data);

  const os::Fd& data() const { return data_; }
  // For layers that are plain folders.
  const os::Fd& sandboxes() const { return sandboxes_; }
  // Opens the store at the first call, and makes it when there is none. Borrowed.
  Result<BtrfsLayers*> Store();
  // Without making anything: nullptr before Store.
  BtrfsLayers* OpenedStore() { return store_.get(); }

 private:
  LayerPlaces(os::Fd data, os::Fd sandboxes) : data_(std::move(data)), sandboxes_(std::move(sandboxes)) {}

  os::Fd data_;
  os::Fd sandboxes_;
  std::unique_ptr<BtrfsLayers> store_;
};

// The writable layer of one sandbox, which its overlays put their upper and work folders in. Move-only; it lives until
// Remove.
class WritableLayer {
 public:
  // On failure nothing is left behind. `places` outlives it.
  static Result<WritableLayer> Make(LayerPlaces& places, const plan::StorageRequest& request);

  // Its folder as a mount that is attached nowhere.
  Result<os::DetachedMount> Mount() const;

  // What ChangeWatch needs to watch for this layer's changes. Errors: kUnsupported when others use its file system too.
  struct WatchPoint {
    os::Fd file_system;
    os::Fd layer;
  };
  Result<WatchPoint> OpenWatchPoint() const;

  // Whether some changes show only to who watches.
  bool NeedsWatch() const { return storage_ == plan::Storage::kTmpfs; }

  // Whether a program that writes now is told that there is no room.
  bool IsFull() const;

  // From here on Remove leaves it where it is (kept_layer.h). Errors: kUnsupported for a layer in memory.
  Status Keep(std::string_view record, const std::string& image);

  // Whether Remove takes no time worth speaking of. It may take as long as the layer has files.
  bool IsQuicklyRemoved() const;
  // Gives the space back.
  void Remove() &&;

 private:
  WritableLayer(LayerPlaces& places, const plan::StorageRequest& request, os::Fd folder)
      : places_(&places), storage_(request.storage), name_(request.name), folder_(std::move(folder)) {}

  LayerPlaces* places_;
  plan::Storage storage_;
  std::string name_;
  os::Fd folder_;  // of a tmpfs its mount, of a layer on disk its owner's lock
  bool is_kept_ = false;
};

}  // namespace caisson::storage
