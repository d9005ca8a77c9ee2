// What the guest takes from the engine: frames and requests. File operations are done, below a scratch folder; a
// command gets as far as the kernel, which refuses its cgroup. Input: the length of the content to write, that content,
// and the rest as it comes through the socket.

#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <optional>

#include "caisson/guest/command_start.h"
#include "caisson/guest/file_operation.h"
#include "caisson/os/socket.h"
#include "caisson/sandbox/file_reply.h"
#include "caisson/sandbox/search_reply.h"
#include "fuzz/scratch_tree.h"

namespace {

using caisson::fuzz::Require;
using caisson::os::Fd;
namespace guest = caisson::guest;
namespace proto = caisson::proto;

caisson::fuzz::ScratchTree& Scratch() {
  static caisson::fuzz::ScratchTree tree;
  return tree;
}

// Moves a path below the scratch folder, which has no link that leads out. False: it would leave it.
bool Confine(std::string& path) {
  if (path.find("..") != std::string::npos) return false;
  path = Scratch().path() + "/" + path;
  return true;
}

bool ConfineAll(proto::FileOperation& operation) {
  if (operation.has_read()) return Confine(*operation.mutable_read()->mutable_path());
  if (operation.has_write()) return Confine(*operation.mutable_write()->mutable_path());
  if (operation.has_list_tree()) return Confine(*operation.mutable_list_tree()->mutable_path());
  if (operation.has_search()) return Confine(*operation.mutable_search()->mutable_path());
  return !operation.has_list() || Confine(*operation.mutable_list()->mutable_path());
}

Fd FileWith(std::string_view content) {
  Fd file(memfd_create("content", MFD_CLOEXEC));
  Require(file.valid() && caisson::os::WriteAll(file.get(), content).has_value(), "a file can be made");
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

void RequireTree(const proto::ListTree& request, const proto::FileReply& reply) {
  const auto count = static_cast<std::uint64_t>(reply.entries_size());
  if (reply.error() != 0) return Require(count == 0, "what failed lists nothing");
  Require(count <= request.limit() && reply.seen() >= count, "a listing is no larger than asked for");
  Require(caisson::sandbox::TreeOf(reply, request.depth(), request.limit()).has_value(), "the engine takes a listing");
}

void RequireMatches(const proto::SearchFiles& request, const proto::FileReply& reply) {
  if (reply.error() != 0) return Require(reply.matches_size() == 0, "what failed finds nothing");
  Require(caisson::sandbox::MatchesOf(reply, request.limit()).has_value(), "the engine takes what was found");
}

void RequireReply(const proto::FileOperation& operation, const Fd& out) {
  lseek(out.get(), 0, SEEK_SET);
  const auto text = caisson::os::ReadAll(out.get(), std::size_t{64} << 20U);
  proto::FileReply reply;
  Require(text && reply.ParseFromString(*text) && reply.complete(), "an operation gives a whole reply");
  Require(reply.content().size() <= guest::kMaxContent, "a read gives no more than it may");
  if (reply.error() != 0) Require(!reply.step().empty(), "a failure names its step");
  if (operation.has_read()) {
    Require(reply.content().size() <= operation.read().limit(), "a read gives no more than was asked for");
  }
  if (operation.has_search()) RequireMatches(operation.search(), reply);
  if (operation.has_list_tree()) RequireTree(operation.list_tree(), reply);
}

void Operate(proto::FileOperation operation, std::string_view content) {
  if (!ConfineAll(operation)) return;
  const Fd in = FileWith(content);
  const Fd out(memfd_create("reply", MFD_CLOEXEC));
  guest::RunFileOperation(operation, in.get(), out.get());
  RequireReply(operation, out);
  if (operation.has_write()) Scratch().Refill();
}

void Start(const proto::StartCommand& request) {
  static std::optional<guest::Confinement> confinement = [] {
    auto landlock = caisson::os::LandlockRules::Make();
    return landlock ? std::optional(guest::Confinement{*std::move(landlock), {}, "", 0}) : std::nullopt;
  }();
  if (!confinement) return;  // a kernel without Landlock
  std::vector<Fd> leaf;
  leaf.emplace_back(open("/dev/null", O_RDWR | O_CLOEXEC));  // no cgroup
  const auto started = guest::StartCommand(request, leaf, *confinement);
  // The pipes were made as another user, who is the guest afterwards.
  setfsuid(geteuid());
  setfsgid(getegid());
  Require(!started.has_value(), "nothing starts outside of a cgroup");
  Require(started.error().error != 0 && !started.error().step.empty(), "what did not start says why");
}

void Serve(const proto::Request& request, std::string_view content) {
  if (!request.has_start()) return;  // Configure locks the process down, and there is no command to signal
  if (request.start().has_file_operation()) {
    Operate(request.start().file_operation(), content);
  } else {
    Start(request.start());
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  caisson::fuzz::Input input(data, size);
  const std::string_view content = input.TakeText();
  auto ends = caisson::os::SocketPair(caisson::os::SocketKind::kStream);
  Require(ends.has_value(), "a socket can be made");
  constexpr std::size_t kHolds = 64U << 10U;
  (void)caisson::os::SendWithFds(ends->first.get(), input.TakeRest().substr(0, kHolds), {});
  shutdown(ends->first.get(), SHUT_WR);
  constexpr int kMostRequests = 8;
  for (int i = 0; i < kMostRequests; ++i) {
    const auto frame = caisson::os::ReceiveFrame(ends->second.get(), caisson::Deadline::In(std::chrono::seconds(5)));
    proto::Request request;
    if (!frame || !request.ParseFromString(frame->data)) break;
    Serve(request, content);
  }
  return 0;
}
