// What the engine takes from the launcher, which is more trusted and still only answers in values of fixed size.
// Input: the number of requests, their kinds, then replies: [number of descriptors] [bytes, as many as a reply has].

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <vector>

#include "caisson/backend/launcher_link.h"
#include "caisson/os/socket.h"
#include "fuzz/sent_frames.h"

namespace {

using caisson::Deadline;
using caisson::backend::LauncherLink;
using caisson::fuzz::Input;
using caisson::fuzz::Require;
namespace os = caisson::os;
namespace plan = caisson::plan;

void SendReplies(int launcher, Input& input) {
  constexpr int kMostReplies = 8;
  for (int i = 0; i < kMostReplies && !input.empty(); ++i) {
    const std::vector<int> fds(input.Take<std::uint8_t>() % os::kMaxMessageFds, caisson::fuzz::SampleDescriptor(2));
    const auto count = input.Take<std::uint8_t>();
    const std::string_view bytes = input.TakeBytes(sizeof(plan::LaunchReply));
    if (count == 0xff) {
      if (!bytes.empty()) (void)os::SendWithFds(launcher, bytes, fds);
      continue;
    }
    std::string whole(bytes);
    whole.resize(sizeof(plan::LaunchReply));
    (void)os::SendWithFds(launcher, whole, fds);
  }
  shutdown(launcher, SHUT_WR);
}

void Use(caisson::backend::Leaf& leaf) {
  const std::size_t fds = leaf.GuestFds().size();
  Require(fds <= plan::kLeafGuestFdsV1, "a guest gets no more descriptors than a leaf has");
  leaf.BeginCommand();
  (void)leaf.MemoryPeakBytes();
  (void)leaf.RanOutOfMemory();
  (void)leaf.HitProcessLimit();
  (void)leaf.Recycle();
}

void Ask(LauncherLink& link, std::uint8_t kind) {
  if (kind % 3 == 0) {
    auto created = link.Create(plan::LaunchPlan{}, {});
    if (created) Use(created->first_leaf);
  } else if (kind % 3 == 1) {
    auto leaf = link.RotateLeaf(7, 1);
    if (leaf) Use(*leaf);
  } else {
    (void)link.WaitsForInput(7, 1, {}, Deadline::In(std::chrono::seconds(1)));
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const unsigned requests = input.Take<std::uint8_t>() % 8;
  const std::string_view kinds = input.TakeBytes(requests);
  auto ends = os::SocketPair(os::SocketKind::kPacket);
  Require(ends.has_value(), "a socket can be made");
  SendReplies(ends->second.get(), input);
  const auto link = LauncherLink::Adopt(std::move(ends->first), os::PidFd(), plan::Expect::kOneSandbox);
  for (const char kind : kinds) Ask(*link, static_cast<std::uint8_t>(kind));
  return 0;
}
