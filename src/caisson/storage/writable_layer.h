#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/os/mount.h"
#include "caisson/plan/layer_plan.h"
#include "caisson/storage/btrfs_layers.h"
#include "caisson/storage/returning_layer.h"

namespace caisson::storage {

// Where the layers on disk lie.
class LayerPlaces {
 public:
  // `data`: the data folder.
  static Result<LayerPlaces> Open(os::Fd data);

  const os::Fd& data() const { return data_; }
  // For layers that are plain folders.
  const os::Fd& sandboxes() const { return sandboxes_; }
  // Where layers on disk of this kind lie. Errors: kUnsupported for those in memory. Borrowed.
  Result<const os::Fd*> FolderOf(plan::Storage storage);
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
  // `places` outlives it. On failure nothing is left behind.
  static Result<WritableLayer> Make(LayerPlaces& places, const plan::StorageRequest& request);
  // One that was kept, with what goes with it but its own folder. On failure it is kept still. Errors: as
  // TakeKeptLayer.
  struct Returned;
  static Result<Returned> TakeKept(LayerPlaces& places, const plan::StorageRequest& request);
  // One that was kept and is to be removed: nobody keeps it any more. Errors: ENOENT, EBUSY.
  static Result<WritableLayer> TakeToRemove(LayerPlaces& places, const plan::StorageRequest& request);

  // The copy of its workspace that it was given, by its lock: it goes or stays with the layer.
  void TakeCopy(os::Fd lock) { copy_ = std::move(lock); }

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
  Status Keep(std::string_view record, const std::string& image) const;
  // The same for a layer that its sandbox may be given again (returning_layer.h). Takes as long as the disk.
  Status Stay(const std::string& image) const;

  // Whether Remove takes no time worth speaking of. It may take as long as the layer has files.
  bool IsQuicklyRemoved() const;
  // Gives the space back, or when it is kept lets go of it: somebody else may take it then.
  void Remove() &&;

 private:
  WritableLayer(LayerPlaces& places, const plan::StorageRequest& request, os::Fd folder)
      : places_(&places),
        storage_(request.storage),
        name_(request.name),
        first_id_(request.first_id),
        folder_(std::move(folder)) {}
  bool IsKept() const;

  LayerPlaces* places_;
  plan::Storage storage_;
  std::string name_;
  std::uint32_t first_id_;
  os::Fd folder_;  // of a tmpfs its mount, of a layer on disk its owner's lock
  os::Fd copy_;    // the same of its workspace's copy; may be invalid
};

struct WritableLayer::Returned {
  WritableLayer layer;
  ReturnedLayer with;
};

}  // namespace caisson::storage
