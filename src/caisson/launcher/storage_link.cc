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
                               .files = plan.files,
                               .first_id = first_id,
                               .bytes = plan::LayerBytes(plan.storage, plan.disk_bytes, plan.memory_bytes),
                               .name = {},
                               .image = {}};
  std::memcpy(request.name, plan.id, sizeof request.name);
  return Send(request, {});
}

Result<StorageLink::Layer> StorageLink::TakeLayer() {
  CAISSON_TRY(Answer answer, Receive());
  const bool has_copy = answer.fds.size() == 3;
  if (answer.fds.size() != 1 && !has_copy) {
    return Fail(Error(Code::kInternal, "the storage process's reply lacks descriptors"));
  }
  Layer layer{.mount = std::move(answer.fds[0]),
              .first_id = answer.reply.first_id,
              .image = answer.reply.message,
              .workspace = {},
              .copy = {}};
  if (has_copy) {
    layer.workspace = std::move(answer.fds[1]);
    layer.copy = std::move(answer.fds[2]);
  }
  return layer;
}

Result<bool> StorageLink::HasKept(const plan::LaunchPlan& plan) {
  const Status found = AskOfKept(plan::StorageVerb::kFindKept, plan);
  if (!found && found.error().errno_value() != ENOENT) return Fail(found.error());
  return found.has_value();
}

Status StorageLink::DiscardKept(const plan::LaunchPlan& plan) { return AskOfKept(plan::StorageVerb::kDiscard, plan); }

Status StorageLink::AskOfKept(plan::StorageVerb verb, const plan::LaunchPlan& plan) {
  plan::StorageRequest request;
  request.verb = verb;
  request.storage = plan.storage;
  std::memcpy(request.name, plan.id, sizeof request.name);
  CAISSON_CHECK_OK(Send(request, {}));
  CAISSON_TRY(const Answer done, Receive());
  return {};
}

Status StorageLink::OrderTracking(std::uint32_t slot, const std::string& image, const os::Fd& engine,
                                  const std::vector<OverlayFolders>& overlays, const os::Fd& copy) {
  std::vector<int> fds = {engine.get()};
  for (const OverlayFolders& overlay : overlays) {
    fds.push_back(overlay.upper.get());
    fds.push_back(overlay.lower.get());
  }
  if (copy.valid()) fds.push_back(copy.get());
  plan::StorageRequest request;
  request.verb = plan::StorageVerb::kTrack;
  request.slot = slot;
  image.copy(request.image, sizeof request.image - 1);
  return Send(request, fds);
}

Status StorageLink::AwaitTracked() {
  CAISSON_TRY(const Answer tracked, Receive());
  return {};
}

Status StorageLink::Connect(std::uint32_t slot, const os::Fd& engine) {
  plan::StorageRequest request;
  request.verb = plan::StorageVerb::kConnect;
  request.slot = slot;
  return Send(request, {engine.get()});
}

Status StorageLink::RemoveLayer(std::uint32_t slot) {
  plan::StorageRequest request;
  request.verb = plan::StorageVerb::kRemove;
  request.slot = slot;
  return Send(request, {});
}

Status StorageLink::Seal() {
  plan::StorageRequest request;
  request.verb = plan::StorageVerb::kSeal;
  return Send(request, {});
}

Status StorageLink::Send(const plan::StorageRequest& request, const std::vector<int>& fds) {
  return os::SendWithFds(connection_.get(), {reinterpret_cast<const char*>(&request), sizeof request}, fds);
}

Result<StorageLink::Answer> StorageLink::Receive() {
  CAISSON_TRY(os::Message message,
              os::ReceivePacket(connection_.get(), sizeof(plan::StorageReply), Deadline::In(kPatience)));
  Answer answer;
  plan::StorageReply& reply = answer.reply;
  if (message.data.size() != sizeof reply) return Fail(Error(Code::kInternal, "the storage process is out of step"));
  std::memcpy(&reply, message.data.data(), sizeof reply);
  reply.message[sizeof reply.message - 1] = '\0';
  if (reply.error != 0) return Fail(Error::FromErrno(reply.error, reply.message));
  answer.fds = std::move(message.fds);
  return answer;
}

}  // namespace caisson::launcher
