#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/plan/change.h"
#include "caisson/sandbox/file_patch.h"
#include "caisson/sandbox/housekeeping.h"
#include "caisson/storage/layer_folders.h"

namespace caisson::backend {
class Layer;
}

namespace caisson::sandbox {

// A sandbox that is gone and whose writable layer was kept. Not thread-safe.
class KeptSandbox {
 public:
  // Finds it by its id or the beginning of one, which must be the only one with it, and locks it: nobody deletes it
  // while this object lives. Needs root. Errors: kNotFound; kInvalidArgument when several begin so; kConflict when
  // somebody else has it for longer than 5 s.
  static Result<KeptSandbox> Open(const HostFolders& folders, const std::string& id);

  KeptSandbox(KeptSandbox&&) noexcept;
  KeptSandbox& operator=(KeptSandbox&&) = delete;
  KeptSandbox(const KeptSandbox&) = delete;
  KeptSandbox& operator=(const KeptSandbox&) = delete;
  ~KeptSandbox();

  const std::string& id() const { return id_; }

  // Removes it for good.
  Status Delete() &&;

  // Forks the process that may read the layer and gives up this process's own rights (os::BecomeEngineUser): what is in
  // the layer is looked at without them. Call from the only thread. Errors: kNotFound when the image or the workspace
  // folder it was made from is gone.
  Status StartReading();
  // After StartReading: everything that differs from the image and, in the workspace, from what its folder held when
  // the sandbox was made.
  Result<plan::ChangeList> Changes();
  // The patch of the `index`-th change: of a file or a symbolic link; empty for what is neither.
  Result<std::string> Patch(std::uint32_t index, const plan::Change& change, Escaping escaping, PatchBudget& budget);

 private:
  KeptSandbox() = default;

  HostFolders folders_;
  std::string id_;
  os::Fd data_;
  storage::LayerFolder parent_;
  os::Fd layer_;  // and its lock
  std::unique_ptr<backend::Layer> reader_;
  pid_t process_ = -1;
};

}  // namespace caisson::sandbox
