#include "caisson/storage/server.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "caisson/os/socket.h"
#include "caisson/plan/layer_plan.h"
#include "caisson/plan/limits.h"
#include "caisson/proto/layer.pb.h"
#include "caisson/storage/tracked_layer.h"
#include "caisson/storage/writable_layer.h"

namespace caisson::storage {
namespace {

using plan::LayerVerb;
using plan::StorageReply;
using plan::StorageRequest;
using plan::StorageVerb;

// A frame that has begun to arrive arrives whole: it is smaller than a socket's buffer.
constexpr std::chrono::seconds kFramePatience{5};

// Layers with fewer entries are read as quickly as the kernel is asked.
constexpr std::uint64_t kManyEntries = 256;

struct Layer {
  WritableLayer writable;
  std::optional<TrackedLayer> tracked;
  os::Fd engine;
  plan::ChangeList last_report;
  std::optional<dev_t> watched;  // its device, once the kernel tells what is touched there
};

bool IsWellFormed(const StorageRequest& request) {
  return request.verb <= StorageVerb::kRemove && request.storage <= plan::Storage::kDirectory &&
         request.name[sizeof request.name - 1] == '\0' && request.name[0] != '.' &&
         std::strchr(request.name, '/') == nullptr && (request.verb != StorageVerb::kMake || request.name[0] != '\0');
}

class Server {
 public:
  Server(os::Fd launcher, os::Fd sandboxes) : launcher_(std::move(launcher)), sandboxes_(std::move(sandboxes)) {}

  void Run() {
    while (true) {
      std::vector<pollfd> entries = {{launcher_.get(), POLLIN, 0}};
      std::vector<std::uint32_t> slots = {0};
      for (const auto& [slot, layer] : layers_) {
        if (!layer.engine.valid()) continue;
        entries.push_back({layer.engine.get(), POLLIN, 0});
        slots.push_back(slot);
      }
      if (poll(entries.data(), entries.size(), -1) < 0 && errno != EINTR) break;
      ReapRemovers();
      // The launcher first: what it says about a layer comes before what the engine asks about it.
      if (entries[0].revents != 0) {
        if (!HandleLauncher()) break;
        continue;
      }
      for (std::size_t i = 1; i < entries.size(); ++i) {
        if (entries[i].revents != 0) HandleEngine(slots[i]);
      }
    }
    while (!layers_.empty()) Remove(layers_.begin()->first);
    while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
  }

 private:
  // False at the end of the connection.
  bool HandleLauncher() {
    auto message =
        os::ReceivePacket(launcher_.get(), sizeof(StorageRequest), Deadline(Deadline::Clock::time_point::max()));
    if (!message) return message.error().code() == Code::kDeadlineExceeded;
    StorageRequest request;
    if (message->data.size() != sizeof request) return false;
    std::memcpy(&request, message->data.data(), sizeof request);
    if (!IsWellFormed(request)) return Reply(Error::FromErrno(EINVAL, "a request that is malformed"), {});
    switch (request.verb) {
      case StorageVerb::kMake:
        return Make(request);
      case StorageVerb::kTrack:
        return Track(request.slot, message->fds);
      case StorageVerb::kRemove:
        Remove(request.slot);
        return true;
    }
    return false;
  }

  bool Reply(const std::optional<Error>& error, const std::vector<int>& fds) const {
    StorageReply reply;
    if (error) {
      reply.error = error->errno_value() == 0 ? EIO : error->errno_value();
      error->message().copy(reply.message, sizeof reply.message - 1);
    }
    return os::SendWithFds(launcher_.get(), {reinterpret_cast<const char*>(&reply), sizeof reply}, fds).has_value();
  }

  bool Make(const StorageRequest& request) {
    if (layers_.contains(request.slot)) return Reply(Error::FromErrno(EEXIST, "the sandbox has a layer"), {});
    auto made = WritableLayer::Make(sandboxes_, request);
    if (!made) return Reply(made.error(), {});
    const auto mount = made->Mount();
    if (!mount) {
      std::move(*made).Remove();
      return Reply(mount.error(), {});
    }
    layers_.emplace(request.slot, Layer{*std::move(made), std::nullopt, {}, {}, std::nullopt});
    return Reply(std::nullopt, {mount->get()});
  }

  bool Track(std::uint32_t slot, std::vector<os::Fd>& fds) {
    const auto found = layers_.find(slot);
    if (found == layers_.end() || (fds.size() != 3 && fds.size() != 5)) {
      return Reply(Error::FromErrno(EINVAL, "a layer that cannot be tracked"), {});
    }
    std::vector<TrackedLayer::Overlay> overlays;
    overlays.push_back({"", std::move(fds[1]), std::move(fds[2])});
    if (fds.size() == 5) overlays.push_back({plan::kAgentWorkspace, std::move(fds[3]), std::move(fds[4])});
    found->second.engine = std::move(fds[0]);
    found->second.tracked.emplace(std::move(overlays), TrackedLayer::Start::kNow);
    return Reply(std::nullopt, {});
  }

  // What takes long goes on in a process of its own. The last one to close a tmpfs is the one who frees it.
  void Remove(std::uint32_t slot) {
    const auto found = layers_.find(slot);
    if (found == layers_.end()) return;
    if (found->second.watched) watch_->Forget(*found->second.watched);
    const pid_t pid = found->second.writable.IsQuicklyRemoved() ? -1 : fork();
    if (pid == 0) {
      launcher_.Reset();
      for (auto& [other, layer] : layers_) {
        layer.engine.Reset();
        if (other == slot) layer.tracked.reset();
      }
      std::move(found->second.writable).Remove();
      _exit(0);
    }
    if (pid < 0) std::move(found->second.writable).Remove();
    layers_.erase(found);
  }

  void ReapRemovers() {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }

  void HandleEngine(std::uint32_t slot) {
    const auto found = layers_.find(slot);
    if (found == layers_.end()) return;
    Layer& layer = found->second;
    const auto frame = os::ReceiveFrame(layer.engine.get(), Deadline::In(kFramePatience));
    plan::LayerRequest request;
    if (!frame || frame->data.size() != sizeof request) return layer.engine.Reset();
    std::memcpy(&request, frame->data.data(), sizeof request);
    proto::LayerReply reply;
    TrackedLayer::Sides sides;
    std::vector<int> fds;
    if (request.verb == LayerVerb::kReport && request.scope <= plan::ReportScope::kEverything) {
      Report(layer, request.scope, reply);
    } else if (request.verb == LayerVerb::kOpen && request.index < layer.last_report.changes.size()) {
      sides = layer.tracked->Open(layer.last_report.changes[request.index].path);
      reply.set_has_before(sides.before.valid());
      reply.set_has_after(sides.after.valid());
      if (sides.before.valid()) fds.push_back(sides.before.get());
      if (sides.after.valid()) fds.push_back(sides.after.get());
    } else {
      reply.set_error(EINVAL);
    }
    if (!os::SendFrame(layer.engine.get(), reply.SerializeAsString(), fds)) layer.engine.Reset();
  }

  void Report(Layer& layer, plan::ReportScope scope, proto::LayerReply& reply) {
    std::optional<ChangeWatch::Names> touched;
    if (layer.watched) touched = watch_->Take(*layer.watched);
    if (!layer.watched && layer.tracked->entries() > kManyEntries) Watch(layer);  // before it is read
    layer.last_report = layer.tracked->Report(touched ? &*touched : nullptr, scope);
    for (const plan::Change& change : layer.last_report.changes) {
      proto::LayerChange& entry = *reply.add_changes();
      entry.set_path(change.path);
      entry.set_kind(static_cast<std::uint32_t>(change.kind));
      entry.set_type(static_cast<std::uint32_t>(change.type));
      entry.set_size_bytes(change.size_bytes);
    }
    reply.set_truncated(layer.last_report.truncated);
    reply.set_is_full(layer.writable.IsFull());
  }

  // Without it every report reads the whole layer.
  void Watch(Layer& layer) {
    if (!std::exchange(watch_tried_, true)) {
      if (auto watch = ChangeWatch::Start()) watch_.emplace(*std::move(watch));
    }
    if (!watch_) return;
    const auto point = layer.writable.WatchPoint();
    struct stat info{};
    if (!point || fstat(point->get(), &info) != 0 || !watch_->Watch(*point, *point)) return;
    layer.watched = info.st_dev;
  }

  os::Fd launcher_;
  os::Fd sandboxes_;
  std::optional<ChangeWatch> watch_;
  bool watch_tried_ = false;
  std::map<std::uint32_t, Layer> layers_;
};

}  // namespace

void RunStorage(os::Fd launcher, os::Fd sandboxes) { Server(std::move(launcher), std::move(sandboxes)).Run(); }

}  // namespace caisson::storage
