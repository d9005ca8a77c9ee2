#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/storage/workspace_copy.h"

namespace caisson::storage {

// A kept layer (kept_layer.h) that its sandbox may be given again, on any block of ids. Root alone writes and reads
// what is noted with it.

struct ReturnRecord {
  std::string name;              // the sandbox's id
  std::uint32_t first_id = 0;    // of the block whose ids the files on disk have
  std::string image;             // as in KeepLayer
  const os::Fd* copy = nullptr;  // the lock of the copy of its workspace; nullptr without one
};
// Puts the layer on the disk and marks it as kept; a copy is named after the sandbox from then on. Takes as long as the
// disk does. Again: nothing but the disk.
Status KeepForReturn(const os::Fd& layer, const ReturnRecord& record);

struct ReturnedLayer {
  os::Fd folder;               // locked, as if it were new; without the work folders of its overlays
  std::uint32_t first_id = 0;  // as it was kept
  std::string image;
  std::optional<WorkspaceCopy> copy;
};
// Whether there is such a layer, in use or not; one that was kept to be looked at is none. `layers`: the folder it lies
// in. Errors: it cannot be told, other than ENOENT.
Result<bool> MayReturn(const os::Fd& layers, const std::string& name);
// It stays kept. Errors: ENOENT when there is none; EBUSY while somebody has it.
Result<ReturnedLayer> TakeKeptLayer(const os::Fd& data, const os::Fd& layers, const std::string& name);

}  // namespace caisson::storage
