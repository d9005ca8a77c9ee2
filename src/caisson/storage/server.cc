#include "caisson/storage/server.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "caisson/os/poll.h"
#include "caisson/os/socket.h"
#include "caisson/plan/layer_plan.h"
#include "caisson/plan/limits.h"
#include "caisson/storage/layer_service.h"
#include "caisson/storage/returning_layer.h"
#include "caisson/storage/storage_request.h"
#include "caisson/storage/writable_layer.h"

namespace caisson::storage {
namespace {

using plan::StorageReply;
using plan::StorageRequest;
using plan::StorageVerb;

// A layer with fewer entries is read as quickly as the kernel is asked what was touched in it.
constexpr std::uint64_t kManyEntries = 256;

// What the engine makes the code of its error from.
int ErrnoOf(const Error& error) {
  if (error.errno_value() != 0) return error.errno_value();
  if (error.code() == Code::kResourceExhausted) return ENOSPC;
  return error.code() == Code::kUnsupported ? EOPNOTSUPP : EIO;
}

// One queue for all layers, started when it is first needed.
class SharedWatch {
 public:
  ChangeWatch* Get() {
    if (!std::exchange(tried_, true)) {
      if (auto watch = ChangeWatch::Start()) watch_.emplace(*std::move(watch));
    }
    return watch_ ? &*watch_ : nullptr;
  }

 private:
  std::optional<ChangeWatch> watch_;
  bool tried_ = false;
};

// What all layers have in common.
struct Shared {
  SharedWatch watch;
  bool is_sealed = false;
};

class Layer : public LayerOwner {
 public:
  Layer(WritableLayer writable, Shared& shared) : writable_(std::move(writable)), shared_(shared) {}

  // `watch`: from now on. A tmpfs does not note the time of a write through a mapping, so that only the kernel's word
  // tells of it; what happens between two commands of a `run` nobody asks.
  enum class Watch { kNow, kWhenLarge };
  void Serve(os::Fd engine, std::vector<TrackedLayer::Overlay> overlays, std::string image, Watch watch) {
    image_ = std::move(image);
    if (watch == Watch::kNow && writable_.NeedsWatch()) StartWatching();
    service_.emplace(std::move(engine), TrackedLayer(std::move(overlays), TrackedLayer::Start::kNow));
  }
  int connection() const { return service_ ? service_->connection() : -1; }
  void Answer() { service_->Answer(*this); }

  std::optional<ChangeWatch::Names> Touched(std::uint64_t entries) override {
    if (watched_) return shared_.watch.Get()->Take(*watched_);
    if (entries > kManyEntries) StartWatching();  // before the layer is read
    return std::nullopt;
  }
  bool IsFull() override { return writable_.IsFull(); }
  Status Keep(std::string_view record) override {
    if (shared_.is_sealed) return Fail(Error::FromErrno(EPERM, "a sandbox is kept before the engine gives up root"));
    return writable_.Keep(record, image_);
  }
  Status Stay() override { return writable_.Stay(image_); }

  void Connect(os::Fd engine) {
    if (service_) service_->Connect(std::move(engine));
  }
  void Aside(const std::function<void()>& work) override {
    const pid_t pid = fork();
    if (pid > 0) return;
    work();
    if (pid == 0) _exit(0);
  }

  WritableLayer& writable() { return writable_; }
  bool IsQuicklyRemoved() const { return writable_.IsQuicklyRemoved(); }
  // Lets go of all that keeps the layer's file system busy.
  void Close() {
    if (watched_) shared_.watch.Get()->Forget(*watched_);
    watched_.reset();
    service_.reset();
  }
  void Remove() {
    Close();
    std::move(writable_).Remove();
  }

 private:
  // Without it every report reads the whole layer.
  void StartWatching() {
    ChangeWatch* const watch = shared_.watch.Get();
    if (watch == nullptr) return;
    const auto point = writable_.OpenWatchPoint();
    struct stat info{};
    if (!point || fstat(point->layer.get(), &info) != 0 || !watch->Watch(point->file_system, point->layer)) return;
    watched_ = info.st_dev;
  }

  WritableLayer writable_;
  Shared& shared_;
  std::string image_;
  std::optional<LayerService> service_;
  std::optional<dev_t> watched_;  // its device, once the kernel tells what is touched there
};

class Server {
 public:
  Server(os::Fd launcher, LayerPlaces places, plan::Expect expect)
      : launcher_(std::move(launcher)), places_(std::move(places)), expect_(expect) {}

  void Run() {
    if (expect_ != plan::Expect::kOneSandbox) (void)shared_.watch.Get();  // before anybody waits
    // After a failure sandboxes still use the layers. The launcher sees that it is alone and ends them, and the next
    // collection removes what they leave.
    if (Serve() == Step::kFail) return;
    while (!layers_.empty()) Remove(layers_.begin()->first);
    if (BtrfsLayers* const store = places_.OpenedStore()) (void)store->CollectGroups();
    while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
  }

 private:
  enum class Step { kNext, kEnd, kFail };

  // Until the launcher goes, or cannot be served.
  Step Serve() {
    while (true) {
      std::vector<pollfd> entries = {{launcher_.get(), POLLIN, 0}};
      std::vector<std::uint32_t> slots = {0};
      for (const auto& [slot, layer] : layers_) {
        if (layer.connection() < 0) continue;
        entries.push_back({layer.connection(), POLLIN, 0});
        slots.push_back(slot);
      }
      if (!os::Poll(entries, -1)) return Step::kFail;
      ReapRemovers();
      // The launcher first: what it says about a layer comes before what the engine asks about it.
      if (entries[0].revents != 0) {
        if (const Step step = HandleLauncher(); step != Step::kNext) return step;
        continue;
      }
      for (std::size_t i = 1; i < entries.size(); ++i) {
        const auto found = layers_.find(slots[i]);
        if (entries[i].revents != 0 && found != layers_.end()) found->second.Answer();
      }
    }
  }

  Step HandleLauncher() {
    auto message =
        os::ReceivePacket(launcher_.get(), sizeof(StorageRequest), Deadline(Deadline::Clock::time_point::max()));
    if (!message) return message.error().code() == Code::kUnavailable ? Step::kEnd : Step::kFail;
    if (message->data.size() != sizeof(StorageRequest)) return Step::kFail;
    const auto request = ReadStorageRequest(message->data);
    if (!request) return Reply(Error::FromErrno(EINVAL, "a request that is malformed"), {});
    switch (request->verb) {
      case StorageVerb::kMake:
        return Make(*request);
      case StorageVerb::kTrack:
        return Track(*request, message->fds);
      case StorageVerb::kRemove:
        Remove(request->slot);
        return Step::kNext;
      case StorageVerb::kSeal:
        shared_.is_sealed = true;
        return Step::kNext;
      case StorageVerb::kConnect:
        return Connect(*request, message->fds);
      case StorageVerb::kFindKept:
        return FindKept(*request);
      case StorageVerb::kDiscard:
        return Discard(*request);
    }
    return Step::kFail;
  }

  Step Reply(const std::optional<Error>& error, const std::vector<int>& fds, StorageReply reply = {}) const {
    if (error) {
      reply.error = ErrnoOf(*error);
      const std::string text = error->message() + (error->cause().empty() ? "" : ": " + error->cause()) +
                               (error->remediation().empty() ? "" : "; " + error->remediation());
      text.copy(reply.message, sizeof reply.message - 1);
    }
    const std::string_view bytes(reinterpret_cast<const char*>(&reply), sizeof reply);
    return os::SendWithFds(launcher_.get(), bytes, fds) ? Step::kNext : Step::kFail;
  }

  Step Make(const StorageRequest& request) {
    if (layers_.contains(request.slot)) return Reply(Error::FromErrno(EEXIST, "the sandbox has a layer"), {});
    if (request.files == plan::Files::kKept) return TakeKept(request);
    auto made = WritableLayer::Make(places_, request);
    if (!made) return Reply(made.error(), {});
    return Give(request.slot, *std::move(made), {}, {});
  }

  Step TakeKept(const StorageRequest& request) {
    auto returned = WritableLayer::TakeKept(places_, request);
    if (!returned) return Reply(returned.error(), {});
    const ReturnedLayer& with = returned->with;
    StorageReply reply{.first_id = with.first_id};
    with.image.copy(reply.message, sizeof reply.message - 1);
    std::vector<int> fds;
    if (with.copy) fds = {with.copy->folder.get(), with.copy->lock.get()};
    return Give(request.slot, std::move(returned->layer), reply, fds);
  }

  Step Give(std::uint32_t slot, WritableLayer layer, const StorageReply& reply, std::vector<int> fds) {
    const auto mount = layer.Mount();
    if (!mount) {
      std::move(layer).Remove();
      return Reply(mount.error(), {});
    }
    fds.insert(fds.begin(), mount->get());
    layers_.try_emplace(slot, std::move(layer), shared_);
    return Reply(std::nullopt, fds, reply);
  }

  Step FindKept(const StorageRequest& request) {
    const auto layers = places_.FolderOf(request.storage);
    if (!layers) return Reply(layers.error(), {});
    const auto is_kept = MayReturn(**layers, request.name);
    if (!is_kept) return Reply(is_kept.error(), {});
    if (!*is_kept) return Reply(Error::FromErrno(ENOENT, "no such layer is kept"), {});
    return Reply(std::nullopt, {});
  }

  Step Discard(const StorageRequest& request) {
    auto layer = WritableLayer::TakeToRemove(places_, request);
    const Step answered = layer ? Reply(std::nullopt, {}) : Reply(layer.error(), {});
    if (!layer) return answered;
    Layer removed(*std::move(layer), shared_);
    RemoveAside(removed);
    return answered;
  }

  Step Track(const StorageRequest& request, std::vector<os::Fd>& fds) {
    const auto found = layers_.find(request.slot);
    if (found == layers_.end() || fds.size() < 3 || fds.size() > 6) {
      return Reply(Error::FromErrno(EINVAL, "a layer that cannot be tracked"), {});
    }
    std::vector<TrackedLayer::Overlay> overlays;
    overlays.push_back({"", std::move(fds[1]), std::move(fds[2])});
    if (fds.size() >= 5) overlays.push_back({plan::kAgentWorkspace, std::move(fds[3]), std::move(fds[4])});
    if (fds.size() == 4 || fds.size() == 6) found->second.writable().TakeCopy(std::move(fds.back()));
    found->second.Serve(std::move(fds[0]), std::move(overlays), request.image,
                        expect_ != plan::Expect::kOneSandbox ? Layer::Watch::kNow : Layer::Watch::kWhenLarge);
    return Reply(std::nullopt, {});
  }

  // Of a sandbox that is gone meanwhile the new engine finds its connection closed.
  Step Connect(const StorageRequest& request, std::vector<os::Fd>& fds) {
    const auto found = layers_.find(request.slot);
    if (found != layers_.end() && fds.size() == 1) found->second.Connect(std::move(fds[0]));
    return Step::kNext;
  }

  void Remove(std::uint32_t slot) {
    const auto found = layers_.find(slot);
    if (found == layers_.end()) return;
    RemoveAside(found->second);
    layers_.erase(found);
  }

  // What takes long goes on in a process of its own. The last one to close a tmpfs is the one who frees it.
  void RemoveAside(Layer& layer) {
    const pid_t pid = layer.IsQuicklyRemoved() ? -1 : fork();
    if (pid > 0) return layer.Close();
    if (pid == 0) {
      launcher_.Reset();
      for (auto& [slot, other] : layers_) other.Close();
    }
    layer.Remove();
    if (pid == 0) _exit(0);
  }

  static void ReapRemovers() {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }

  os::Fd launcher_;
  LayerPlaces places_;
  plan::Expect expect_;
  Shared shared_;
  std::map<std::uint32_t, Layer> layers_;
};

}  // namespace

void RunStorage(os::Fd launcher, LayerPlaces places, plan::Expect expect) {
  Server(std::move(launcher), std::move(places), expect).Run();
}

}  // namespace caisson::storage
