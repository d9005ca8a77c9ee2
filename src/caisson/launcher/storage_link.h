#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/os/mount.h"
#include "caisson/plan/layer_plan.h"

namespace caisson::launcher {

// What the storage process needs to watch one overlay: its upper and lower folder, opened for reading.
struct OverlayFolders {
  os::Fd upper;
  os::Fd lower;
};

// The launcher's view of the storage process (storage/server.h). It ends, removing every layer it made, when the
// launcher's end of the connection closes. Not thread-safe.
class StorageLink {
 public:
  // Forks it. `data`: the data folder. `others`: descriptors that it closes on its side, since their end must be seen.
  static Result<StorageLink> Start(const os::Fd& data, const std::vector<int>& others, plan::Expect expect);

  StorageLink(StorageLink&& other) noexcept;
  StorageLink& operator=(StorageLink&&) = delete;
  StorageLink(const StorageLink&) = delete;
  StorageLink& operator=(const StorageLink&) = delete;
  // Closes the connection and waits until the storage process has cleaned up: this process's end would kill it.
  ~StorageLink();

  // Asks for a layer; TakeLayer waits for it, as plan::StorageVerb::kMake says.
  Status OrderLayer(std::uint32_t slot, const plan::LaunchPlan& plan, std::uint32_t first_id);
  struct Layer {
    os::DetachedMount mount;
    // Of one that was kept:
    std::uint32_t first_id = 0;  // of the block whose ids it has on disk
    std::string image;
    os::Fd workspace;  // the copy that it was used with, and its lock; may be invalid
    os::Fd copy;
  };
  Result<Layer> TakeLayer();
  // Tells what the layer's overlays are made of, of the image `host` also its name below `images`, and who asks for
  // their changes; AwaitTracked waits until they are watched. `copy`: the lock of a copy of its workspace, which shares
  // the layer's fate; may be invalid.
  Status OrderTracking(std::uint32_t slot, const std::string& image, const os::Fd& engine,
                       const std::vector<OverlayFolders>& overlays, const os::Fd& copy);
  Status AwaitTracked();
  // Another engine asks for the changes of this layer from now on. Does not wait.
  Status Connect(std::uint32_t slot, const os::Fd& engine);
  // Also of a slot that has none; what is kept stays. Does not wait.
  Status RemoveLayer(std::uint32_t slot);
  // Whether a layer is kept for this sandbox, in use or not.
  Result<bool> HasKept(const plan::LaunchPlan& plan);
  // Removes it. Errors: ENOENT when there is none; EBUSY while somebody uses it.
  Status DiscardKept(const plan::LaunchPlan& plan);

  Status Seal();

  // Hangs up when the storage process has ended.
  int connection() const { return connection_.get(); }

 private:
  StorageLink(os::Fd connection, pid_t process) : connection_(std::move(connection)), process_(process) {}
  Status Send(const plan::StorageRequest& request, const std::vector<int>& fds);
  Status AskOfKept(plan::StorageVerb verb, const plan::LaunchPlan& plan);
  struct Answer {
    plan::StorageReply reply;
    std::vector<os::Fd> fds;
  };
  Result<Answer> Receive();

  os::Fd connection_;
  pid_t process_;
};

}  // namespace caisson::launcher
