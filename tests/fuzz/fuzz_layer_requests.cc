// What the storage process, which is root, takes about one layer from an engine that somebody has taken over.
// Input: the parts that the engine sends (sent_frames.h).

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>

#include "caisson/os/socket.h"
#include "caisson/storage/kept_layer.h"
#include "caisson/storage/layer_service.h"
#include "fuzz/scratch_tree.h"
#include "fuzz/sent_frames.h"

namespace {

using caisson::fuzz::Require;
using caisson::os::Fd;
namespace storage = caisson::storage;

Fd OpenFolder(const std::string& path) {
  Fd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  Require(folder.valid(), "a folder can be opened");
  return folder;
}

class Owner : public storage::LayerOwner {
 public:
  explicit Owner(const std::string& layer) : layer_(OpenFolder(layer)) {}

  std::optional<storage::ChangeWatch::Names> Touched(std::uint64_t) override { return std::nullopt; }
  bool IsFull() override { return true; }
  caisson::Status Keep(std::string_view record) override {
    const caisson::Status kept = storage::KeepLayer(layer_, record, "image");
    Require(kept.has_value() == (record.size() <= storage::kMaxRecord), "a record is kept unless it is too large");
    if (!kept) return kept;
    const auto read = storage::ReadRecord(layer_);
    Require(read && *read == record && storage::ImageOfKept(layer_) == "image", "a record is read as it was kept");
    return kept;
  }
  caisson::Status Stay() override { return {}; }
  void Aside(const std::function<void()>& work) override { work(); }

 private:
  Fd layer_;
};

struct Trees {
  caisson::fuzz::ScratchTree upper;
  caisson::fuzz::ScratchTree lower;
  caisson::fuzz::ScratchTree layer;
  Trees() {
    std::filesystem::remove(lower.path() + "/file");
    std::filesystem::remove(upper.path() + "/link");
  }
};

void ReadReplies(int engine) {
  while (true) {
    const auto frame = caisson::os::ReceiveFrame(engine, caisson::Deadline::In({}));
    if (!frame) return;
    caisson::proto::LayerReply reply;
    Require(reply.ParseFromString(frame->data), "a reply is one");
    Require(frame->fds.size() == std::size_t{reply.has_before()} + std::size_t{reply.has_after()},
            "a reply has the descriptors it names");
    Require(reply.error() >= 0, "an error is an errno");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Trees trees;
  caisson::fuzz::Input input(data, size);
  auto ends = caisson::os::SocketPair(caisson::os::SocketKind::kStream);
  Require(ends.has_value(), "a socket can be made");
  constexpr int kMostParts = 8;
  caisson::fuzz::SendParts(ends->first.get(), input, kMostParts);
  shutdown(ends->first.get(), SHUT_WR);

  std::vector<storage::TrackedLayer::Overlay> overlays;
  overlays.push_back({"", OpenFolder(trees.upper.path()), OpenFolder(trees.lower.path())});
  storage::LayerService service(std::move(ends->second),
                                storage::TrackedLayer(std::move(overlays), storage::TrackedLayer::Start::kEmptyUppers));
  Owner owner(trees.layer.path());
  for (int i = 0; service.connection() >= 0; ++i) {
    Require(i <= kMostParts * 4096, "an engine that has gone is noticed");
    service.Answer(owner);
    ReadReplies(ends->first.get());
  }
  return 0;
}
