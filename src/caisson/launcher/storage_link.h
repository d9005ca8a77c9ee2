#pragma once

#include <sys/types.h>

#include <cstdint>
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
  Result<os::DetachedMount> TakeLayer();
  // Tells what the layer's overlays are made of, of the image `host` also its name below `images`, and who asks for
  // their changes; AwaitTracked waits until they are watched.
  Status OrderTracking(std::uint32_t slot, const std::string& image, const os::Fd& engine,
                       const std::vector<OverlayFolders>& overlays);
  Status AwaitTracked();
  // Another engine asks for the changes of this layer from now on. Does not wait.
  Status Connect(std::uint32_t slot, const os::Fd& engine);
  // Also of a slot that has none; with it goes the copy of a workspace that `copy` is the lock of. Does not wait.
  Status RemoveLayer(std::uint32_t slot, const os::Fd& copy);

  Status Seal();

  // Hangs up when the storage process has ended.
  int connection() const { return connection_.get(); }

 private:
  StorageLink(os::Fd connection, pid_t process) : connection_(std::move(connection)), process_(process) {}
  Status Send(const plan::StorageRequest& request, const std::vector<int>& fds);
  Result<std::vector<os::Fd>> Receive();

  os::Fd connection_;
  pid_t process_;
};

}  // namespace caisson::launcher
