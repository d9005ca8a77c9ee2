#include "caisson/launcher/storage_link.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "caisson/os/identity.h"
#include "caisson/os/socket.h"
#include "caisson/storage/server.h"

namespace caisson::launcher {
namespace {

constexpr std::chrono::seconds kPatience{10};

}  // namespace

Result<StorageLink> StorageLink::Start(const os::Fd& data, const std::vector<int>& others, plan::Expect expect) {
  CAISSON_TRY(auto ends, os::SocketPair(os::SocketKind::kPacket));
  CAISSON_TRY(os::Fd own_data, data.Duplicate());
  CAISSON_TRY(storage::LayerPlaces places, storage::LayerPlaces::Open(std::move(own_data)));
  const pid_t pid = fork();
  if (pid < 0) return Fail(Error::FromErrno(errno, "cannot start the storage process"));
  if (pid == 0) {
    ends.first.Reset();
    for (const int fd : others) close(fd);
    prctl(PR_SET_NAME, "caisson-storage", 0, 0, 0);
    // For file systems, quotas and watches; for layers that belong to others.
    if (!os::KeepOnlyCapabilities({CAP_SYS_ADMIN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_CHOWN, CAP_FOWNER})) {
      _exit(1);
    }
    storage::RunStorage(std::move(ends.second), std::move(places), expect);
    _exit(0);
  }
  return StorageLink(std::move(ends.first), pid);
}

StorageLink::StorageLink(StorageLink&& other) noexcept
    : connection_(std::move(other.connection_)), process_(std::exchange(other.process_, -1)) {}

StorageLink::~StorageLink() {
  if (process_ < 0) return;
  connection_.Reset();
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Status StorageLink::OrderLayer(std::uint32_t slot, const plan::LaunchPlan& plan, std::uint32_t first_id) {
  plan::StorageRequest request{.verb = plan::StorageVerb::kMake,
                               .slot = slot,
                               .storage = plan.storage,
                               .first_id = first_id,
                               .bytes = plan::LayerBytes(plan.storage, plan.disk_bytes, plan.memory_bytes),
                               .name = {},
                               .image = {}};
  std::memcpy(request.name, plan.id, sizeof request.name);
  return Send(request, {});
}

Result<os::DetachedMount> StorageLink::TakeLayer() {
  CAISSON_TRY(std::vector<os::Fd> fds, Receive());
  if (fds.size() != 1) return Fail(Error(Code::kInternal, "the storage process's reply lacks descriptors"));
  return std::move(fds.front());
}

Status StorageLink::OrderTracking(std::uint32_t slot, const std::string& image, const os::Fd& engine,
                                  const std::vector<OverlayFolders>& overlays) {
  std::vector<int> fds = {engine.get()};
  for (const OverlayFolders& overlay : overlays) {
    fds.push_back(overlay.upper.get());
    fds.push_back(overlay.lower.get());
  }
  plan::StorageRequest request;
  request.verb = plan::StorageVerb::kTrack;
  request.slot = slot;
  image.copy(request.image, sizeof request.image - 1);
  return Send(request, fds);
}

Status StorageLink::AwaitTracked() {
  CAISSON_TRY(const std::vector<os::Fd> none, Receive());
  return {};
}

Status StorageLink::Connect(std::uint32_t slot, const os::Fd& engine) {
  plan::StorageRequest request;
  request.verb = plan::StorageVerb::kConnect;
  request.slot = slot;
  return Send(request, {engine.get()});
}

Status StorageLink::RemoveLayer(std::uint32_t slot, const os::Fd& copy) {
  plan::StorageRequest request;
  request.verb = plan::StorageVerb::kRemove;
  request.slot = slot;
  return Send(request, copy.valid() ? std::vector<int>{copy.get()} : std::vector<int>());
}

Status StorageLink::Seal() {
  plan::StorageRequest request;
  request.verb = plan::StorageVerb::kSeal;
  return Send(request, {});
}

Status StorageLink::Send(const plan::StorageRequest& request, const std::vector<int>& fds) {
  return os::SendWithFds(connection_.get(), {reinterpret_cast<const char*>(&request), sizeof request}, fds);
}

Result<std::vector<os::Fd>> StorageLink::Receive() {
  CAISSON_TRY(os::Message message,
              os::ReceivePacket(connection_.get(), sizeof(plan::StorageReply), Deadline::In(kPatience)));
  plan::StorageReply reply;
  if (message.data.size() != sizeof reply) return Fail(Error(Code::kInternal, "the storage process is out of step"));
  std::memcpy(&reply, message.data.data(), sizeof reply);
  if (reply.error != 0) return Fail(Error::FromErrno(reply.error, reply.message));
  return std::move(message.fds);
}

}  // namespace caisson::launcher
