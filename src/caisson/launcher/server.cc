#include "caisson/launcher/server.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "caisson/base/weakened.h"
#include "caisson/launcher/answer.h"
#include "caisson/launcher/creation.h"
#include "caisson/launcher/door.h"
#include "caisson/launcher/input_wait.h"
#include "caisson/launcher/keeper.h"
#include "caisson/launcher/launch.h"
#include "caisson/launcher/launch_request.h"
#include "caisson/launcher/leaves.h"
#include "caisson/launcher/running_sandbox.h"
#include "caisson/launcher/storage_link.h"
#include "caisson/launcher/succession.h"
#include "caisson/os/namespace.h"
#include "caisson/os/poll.h"
#include "caisson/os/socket.h"
#include "caisson/os/write_child.h"
#include "caisson/storage/uid_blocks.h"

namespace caisson::launcher {
namespace {

using storage::UidBlocks;

using plan::LaunchReply;
using plan::LaunchRequest;
using plan::Step;

// A request that was made for sure, since the engine starts no launcher without need, but may still be on its way.
constexpr std::chrono::seconds kRequestPatience{10};

class Server {
 public:
  Server(os::Fd engine, std::optional<Door> door, os::Fd own_network, os::Fd first_network, HostTrees trees,
         Keeper keeper, StorageLink storage, plan::Expect expect)
      : engine_(std::move(engine)),
        door_(std::move(door)),
        trees_(std::move(trees)),
        keeper_(std::move(keeper)),
        storage_(std::move(storage)),
        creation_({.keeper = keeper_,
                   .storage = storage_,
                   .trees = trees_,
                   .door = door_ ? &*door_ : nullptr,
                   .expect = expect},
                  std::move(own_network), std::move(first_network)),
        succession_(sandboxes_, storage_) {}

  int Run() {
    while (HasReason() && Turn()) {
    }
    while (!sandboxes_.empty()) Destroy(sandboxes_.begin()->first);
    TakeBackEnded();
    creation_.End();
    return 0;
  }

 private:
  // Whether there is somebody to serve, or something to keep for the next engine.
  bool HasReason() const { return engine_.valid() || (door_ && !sandboxes_.empty()); }

  // Waits until there is something to do, and does it. False when the storage process has ended: without it nobody
  // answers for the layers of the sandboxes, which then end too.
  bool Turn() {
    std::vector<pollfd> entries = {{engine_.get(), POLLIN, 0}, {storage_.connection(), 0, 0}};
    creation_.AppendTo(entries);
    const std::size_t first_of_door = entries.size();
    if (door_) door_->AppendTo(entries);
    if (!os::Poll(entries, creation_.PollTimeout()) || entries[1].revents != 0) return false;
    const bool is_asked = entries[0].revents != 0;
    if (is_asked && !ServeEngine()) LoseEngine();
    creation_.GoOn();
    AnswerCreated();
    creation_.TidyUp();
    RemoveRetiredLeaves();
    TakeBackEnded();
    if (is_asked) return true;
    creation_.PrepareAhead();
    if (!door_) return true;
    if (auto engine = door_->Serve(std::span(entries).subspan(first_of_door))) {
      LoseEngine();
      engine_ = *std::move(engine);
    }
    return true;
  }

  // One request. False when the engine is gone and there is none any more: what it had asked for before it went is
  // done, also when nobody is left to hear of it.
  bool ServeEngine() {
    auto message =
        os::ReceivePacket(engine_.get(), sizeof(LaunchRequest), Deadline(Deadline::Clock::time_point::max()));
    if (!message) return false;
    if (const std::optional<Answer> answer = Handle(*message)) Reply(*answer);
    return true;
  }

  void LoseEngine() {
    engine_.Reset();
    creation_.Abandon();
    succession_.RetireLeaves();
  }

  void Reply(const Answer& answer) const {
    std::vector<int> fds;
    for (const os::Fd& fd : answer.fds) fds.push_back(fd.get());
    const std::string_view bytes(reinterpret_cast<const char*>(&answer.reply), sizeof answer.reply);
    (void)os::SendWithFds(engine_.get(), bytes, fds);
  }

  // A sandbox whose engine has gone meanwhile is one that the next engine finds.
  void AnswerCreated() {
    for (Creation::Outcome& outcome : creation_.TakeOutcomes()) {
      Answer answer = AnswerOf(outcome);
      answer.reply.number = outcome.number;
      if (engine_.valid()) Reply(answer);
    }
  }

  Answer AnswerOf(Creation::Outcome& outcome) {
    if (!outcome.sandbox) {
      const StepError& error = outcome.sandbox.error();
      return Failed(error.step, error.errno_value, error.message);
    }
    RunningSandbox sandbox = *std::move(outcome.sandbox);
    const std::uint32_t block = sandbox.launched.slot.block;
    Answer answer = DescribeSandbox(sandbox);
    CloseUnused(sandbox.launched.slot);
    const bool has_failed = answer.reply.failed_step != Step::kNone;
    sandboxes_.emplace(block, std::move(sandbox));
    if (has_failed) Destroy(block);
    return answer;
  }

  std::optional<Answer> Handle(os::Message& message) {
    const auto request = ReadLaunchRequest(message.data);
    if (!request) return Failed(Step::kRequest, request.error());
    std::optional<Answer> answer = Answered(*request, message.fds);
    if (answer) answer->reply.number = request->number;
    return answer;
  }

  std::optional<Answer> Answered(const LaunchRequest& request, std::vector<os::Fd>& fds) {
    switch (request.verb) {
      case plan::Verb::kCreate:
        creation_.Ask(request, fds);
        return std::nullopt;
      case plan::Verb::kRotateLeaf:
        return RotateLeaf(request);
      case plan::Verb::kDestroy:
        Destroy(request.slot);
        return std::nullopt;
      case plan::Verb::kSeal:
        creation_.Seal();
        (void)storage_.Seal();
        return std::nullopt;
      case plan::Verb::kExamineLeaf:
        return ExamineLeaf(request);
      case plan::Verb::kFreeze:
      case plan::Verb::kThaw:
      case plan::Verb::kPark:
      case plan::Verb::kUnpark:
      case plan::Verb::kNextSandbox:
      case plan::Verb::kAdopt:
      case plan::Verb::kNextParked:
        return succession_.Serve(request, fds);
      case plan::Verb::kFindKept:
      case plan::Verb::kDiscard:
        return AskOfKept(request);
    }
    return Failed(Step::kRequest, EBADMSG);
  }

  Answer AskOfKept(const LaunchRequest& request) {
    if (!NamesSandbox(request.plan)) return Failed(Step::kRequest, EINVAL);
    Answer answer;
    if (request.verb == plan::Verb::kDiscard) {
      if (const Status gone = storage_.DiscardKept(request.plan); !gone) {
        return Failed(Step::kKeptFiles, gone.error().errno_value(), gone.error().message());
      }
      return answer;
    }
    const auto has_kept = storage_.HasKept(request.plan);
    if (!has_kept) return Failed(Step::kKeptFiles, has_kept.error().errno_value(), has_kept.error().message());
    if (*has_kept) std::memcpy(answer.reply.id, request.plan.id, sizeof answer.reply.id);
    return answer;
  }

  // A thousand sandboxes must fit into one process's descriptors.
  void CloseUnused(Slot& slot) const {
    if (!door_) return;
    slot.guest = os::Cgroup::FromDirectories(slot.guest.mode(), {});
    slot.first_leaf = os::Cgroup::FromDirectories(slot.first_leaf.mode(), {});
    slot.network_namespace.Reset();
    slot.cgroup_namespace.Reset();
    slot.user_namespace.Reset();
  }

  static Answer DescribeSandbox(const RunningSandbox& sandbox) {
    const Slot& slot = sandbox.launched.slot;
    const std::uint32_t guest_uid = UidBlocks::FirstId(slot.block) + kGuestId;
    auto guest = sandbox.launched.guest.Duplicate();
    auto kill = slot.sandbox.OpenKill();
    auto leaf = OpenLeaf(slot.first_leaf, slot.sandbox, sandbox.pids, guest_uid);
    if (!leaf) return Failed(Step::kLeaf, leaf.error().errno_value(), leaf.error().message());
    if (!guest || !kill) return Failed(Step::kLeaf, EMFILE);
    Answer answer;
    answer.reply.slot = slot.block;
    answer.fds.push_back(*std::move(guest));
    answer.fds.push_back(*std::move(kill));
    AppendLeaf(1, *std::move(leaf), answer);
    return answer;
  }

  Answer RotateLeaf(const LaunchRequest& request) {
    const auto found = sandboxes_.find(request.slot);
    if (found == sandboxes_.end()) return Failed(Step::kLeaf, ENOENT);
    RunningSandbox& sandbox = found->second;
    const Slot& slot = sandbox.launched.slot;
    const std::uint32_t number = ++sandbox.last_leaf;
    auto cgroup = slot.sandbox.MakeChild(LeafName(number));
    if (!cgroup) return Failed(Step::kLeaf, cgroup.error().errno_value(), cgroup.error().message());
    auto leaf = OpenLeaf(*cgroup, slot.sandbox, sandbox.pids, UidBlocks::FirstId(slot.block) + kGuestId);
    if (!leaf) return Failed(Step::kLeaf, leaf.error().errno_value(), leaf.error().message());
    sandbox.leaves.insert(number);
    Answer answer;
    answer.reply.slot = slot.block;
    AppendLeaf(number, *std::move(leaf), answer);
    if (request.retired_leaf != 0) sandbox.retired_leaves.insert(request.retired_leaf);
    rotated_ = slot.block;
    return answer;
  }

  Answer ExamineLeaf(const LaunchRequest& request) const {
    const auto found = sandboxes_.find(request.slot);
    if (found == sandboxes_.end()) return Failed(Step::kLeaf, ENOENT);
    const auto processes = found->second.launched.slot.sandbox.OpenChildProcesses(LeafName(request.leaf));
    if (!processes) return Failed(Step::kLeaf, processes.error().errno_value(), processes.error().message());
    Answer answer;
    answer.reply.waits_for_input = WaitsForInput(*processes, request.input) ? 1 : 0;
    return answer;
  }

  void Destroy(std::uint32_t block) {
    const auto found = sandboxes_.find(block);
    if (found == sandboxes_.end()) return;
    EndFirstProcess(found->second.launched.guest);
    ended_.push_back(block);
    sandboxes_.erase(found);
  }

  void TakeBackEnded() {
    for (const std::uint32_t block : ended_) creation_.TakeBack(block);
    ended_.clear();
  }

  // Of the sandbox that was given a new leaf. One in which a background process lives is tried again the next time.
  void RemoveRetiredLeaves() {
    const auto found = rotated_ ? sandboxes_.find(*rotated_) : sandboxes_.end();
    rotated_.reset();
    if (found == sandboxes_.end()) return;
    RunningSandbox& sandbox = found->second;
    std::erase_if(sandbox.retired_leaves, [&](std::uint32_t leaf) {
      if (!sandbox.launched.slot.sandbox.RemoveChildIfUnused(LeafName(leaf))) return false;
      sandbox.leaves.erase(leaf);
      return true;
    });
  }

  os::Fd engine_;             // with kEngines invalid between two of them
  std::optional<Door> door_;  // with kEngines
  HostTrees trees_;
  Keeper keeper_;
  StorageLink storage_;
  Creation creation_;
  RunningSandboxes sandboxes_;
  Succession succession_;
  std::optional<std::uint32_t> rotated_;  // the slot of the last new leaf
  std::vector<std::uint32_t> ended_;      // by block
};

// For the pid namespace whose first process the launcher is, and so for all sandboxes below it: a memfd made without
// flags cannot be executed. A sandbox could not set this itself, since the file belongs to the host's root. Linux 6.3;
// where it is missing, the system call filter refuses memfd_create.
Status RefuseExecutableMemory() {
  if (Weakened("memfd_noexec")) return {};
  const os::Fd file(open("/proc/sys/vm/memfd_noexec", O_WRONLY | O_CLOEXEC));
  if (!file.valid() && errno == ENOENT) return {};
  if (!file.valid()) return Fail(Error::FromErrno(errno, "cannot open the sysctl vm.memfd_noexec"));
  const int error = os::WriteWhole(file.get(), "1", 1);
  if (error == 0 || error == EINVAL) return {};  // EINVAL: it is stricter already
  return Fail(Error::FromErrno(error, "cannot set the sysctl vm.memfd_noexec"));
}

// Tells the engine why the launcher cannot start, as the answer to its first request: a connection that closes with a
// request unread loses what was written to it.
int Report(const os::Fd& engine, Step step, const Error& error) {
  (void)os::ReceivePacket(engine.get(), sizeof(LaunchRequest), Deadline::In(kRequestPatience));
  const LaunchReply reply = Failed(step, error.errno_value(), error.message()).reply;
  (void)os::SendWithFds(engine.get(), {reinterpret_cast<const char*>(&reply), sizeof reply}, {});
  return 1;
}

}  // namespace

int RunServer(ServerInputs inputs, plan::Expect expect) {
  if (const Status refused = RefuseExecutableMemory(); !refused)
    return Report(inputs.engine, Step::kSysctl, refused.error());
  // In a chroot no user namespace can be made and the root is no mount. The image `host` is still made from what the
  // caller sees as the root.
  const storage::Places places{.data = std::move(inputs.data),
                               .runtime = std::move(inputs.runtime),
                               .host_root = os::Fd(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
                               .data_path = "the data folder"};
  if (const Status left = os::LeaveChroot(); !left) return Report(inputs.engine, Step::kHostImage, left.error());
  auto keeper = Keeper::Start(places, inputs.engine, expect);
  if (!keeper) return Report(inputs.engine, Step::kSlot, keeper.error());
  if (const Status ordered = keeper->OrderSlot(); !ordered) return Report(inputs.engine, Step::kSlot, ordered.error());
  auto storage = StorageLink::Start(places.data, {inputs.engine.get(), keeper->connection()}, expect);
  if (!storage) return Report(inputs.engine, Step::kWritableLayer, storage.error());
  auto network = os::OpenNamespace("net");
  if (!network) return Report(inputs.engine, Step::kNetworkNamespace, network.error());
  auto trees = HostTrees::Enter(places.data, places.host_root);
  if (!trees) return Report(inputs.engine, Step::kHostImage, trees.error());
  os::Fd first_network;
  if (expect == plan::Expect::kOneSandbox) {
    // The keeper is busy with the rest of the slot: two at once.
    auto made = os::EnterNewNetworkNamespace();
    if (!made) return Report(inputs.engine, Step::kNetworkNamespace, made.error());
    if (const Status back = os::EnterNamespace(*network); !back) {
      return Report(inputs.engine, Step::kNetworkNamespace, back.error());
    }
    first_network = *std::move(made);
  }
  std::optional<Door> door;
  if (expect == plan::Expect::kEngines) door.emplace(std::move(inputs.door));
  return Server(std::move(inputs.engine), std::move(door), *std::move(network), std::move(first_network),
                *std::move(trees), *std::move(keeper), *std::move(storage), expect)
      .Run();
}

}  // namespace caisson::launcher
