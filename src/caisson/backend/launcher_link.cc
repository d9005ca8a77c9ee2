#include "caisson/backend/launcher_link.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "caisson/backend/launcher_door.h"
#include "caisson/backend/spawn_child.h"
#include "caisson/os/clone.h"
#include "caisson/os/socket.h"

namespace caisson::backend {
namespace {

// Longer than anything the launcher waits for itself.
constexpr std::chrono::seconds kPatience{20};
constexpr std::chrono::seconds kEndPatience{10};

// A program that somebody else could have changed is not started with root's rights.
Result<os::Fd> OpenProgram(const std::string& path) {
  os::Fd program(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info{};
  if (!program.valid() || fstat(program.get(), &info) != 0) {
    return Fail(Error(Code::kUnavailable, "cannot open " + path)
                    .Because(std::strerror(errno))
                    .Remedy("reinstall Caisson: its programs belong in one folder"));
  }
  if (!S_ISREG(info.st_mode) || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Fail(Error(Code::kPermissionDenied, path + " cannot be trusted")
                    .Because("it is no regular file, or others than its owner may write to it")
                    .Remedy("chmod go-w " + path));
  }
  return program;
}

// Starts the launcher as the first process of a pid namespace that all its sandboxes are below: when it dies, whatever
// the reason, the kernel ends them.
Result<pid_t> Spawn(const std::string& path, const char* argument, const std::array<int, 4>& fds) {
  std::array<os::Fd, 4> high;
  SpawnPlan plan;
  for (std::size_t i = 0; i < fds.size(); ++i) {
    if (fds[i] < 0) continue;
    // Out of the way of the places they go to.
    high[i].Reset(fcntl(fds[i], F_DUPFD_CLOEXEC, 16));
    if (!high[i].valid()) return Fail(Error::FromErrno(errno, "cannot duplicate a descriptor"));
    plan.fds[i] = high[i].get();
  }
  std::string name = "caisson-launcher";
  std::string text = argument;
  const std::array<char*, 3> argv = {name.data(), text.data(), nullptr};
  plan.path = path.c_str();
  plan.argv = argv.data();
  clone_args args{};
  args.flags = CLONE_NEWPID;
  args.exit_signal = SIGCHLD;
  const pid_t pid = os::CloneSharingMemory(args, RunSpawnChild, &plan);
  if (pid < 0) return Fail(Error::FromErrno(errno, "cannot start the launcher in a pid namespace"));
  return pid;
}

const char* ArgumentOf(plan::Expect expect) {
  switch (expect) {
    case plan::Expect::kOneSandbox:
      return "one";
    case plan::Expect::kManySandboxes:
      return "many";
    case plan::Expect::kEngines:
      break;
  }
  return "engines";
}

}  // namespace

Result<std::unique_ptr<LauncherLink>> LauncherLink::Start(const std::string& program_directory,
                                                          const DataFolders& folders, plan::Expect expect) {
  const std::string path = program_directory + "/caisson-launcher";
  CAISSON_TRY(const os::Fd launcher, OpenProgram(path));
  CAISSON_TRY(auto ends, os::SocketPair(os::SocketKind::kPacket));
  os::Fd door;
  if (expect == plan::Expect::kEngines) {
    CAISSON_TRY(door, OpenDoor(folders.runtime));
  }
  CAISSON_TRY(const pid_t pid, Spawn(path, ArgumentOf(expect),
                                     {ends.second.get(), folders.data.get(), folders.runtime.get(), door.get()}));
  CAISSON_TRY(os::PidFd process, os::PidFd::Open(pid));
  return Adopt(std::move(ends.first), std::move(process), expect);
}

std::unique_ptr<LauncherLink> LauncherLink::Adopt(os::Fd connection, os::PidFd process, plan::Expect expect) {
  return std::unique_ptr<LauncherLink>(new LauncherLink(std::move(connection), std::move(process), expect));
}

Result<std::unique_ptr<LauncherLink>> LauncherLink::FindLiving(const DataFolders& folders) {
  CAISSON_TRY(os::Fd connection, ConnectToDoor(folders.runtime));
  if (!connection.valid()) return std::unique_ptr<LauncherLink>();
  if (const auto heard = SayAtDoor(connection, plan::Hello::kEngine, {}); !heard) return Fail(heard.error());
  return Adopt(std::move(connection), os::PidFd(), plan::Expect::kEngines);
}

LauncherLink::~LauncherLink() {
  exchange_.Close();
  // The launcher removes cgroups and layers by itself, in a session of its own. A process that made one sandbox has no
  // reason to wait for it: it is about to end.
  if (expect_ == plan::Expect::kManySandboxes && process_.Ended(Deadline::In(kEndPatience))) process_.Reap();
}

Result<LauncherLink::Answer> LauncherLink::Ask(const plan::LaunchRequest& request, const std::vector<int>& fds) {
  return exchange_.Ask(request, fds, Deadline::In(kPatience));
}

namespace {

// Takes the leaf's descriptors off the front of a reply's.
Result<Leaf> TakeLeaf(const plan::LaunchReply& reply, std::vector<os::Fd> fds, std::size_t skip) {
  const std::size_t guest_fds = reply.leaf_guest_fds;
  if (guest_fds > plan::kLeafGuestFdsV1 || fds.size() != skip + plan::kLeafEngineFds + guest_fds) {
    return Fail(Error(Code::kInternal, "the launcher's reply lacks descriptors"));
  }
  std::vector<os::Fd> engine;
  std::vector<os::Fd> guest;
  for (std::size_t i = skip; i < fds.size(); ++i) {
    (i < skip + plan::kLeafEngineFds ? engine : guest).push_back(std::move(fds[i]));
  }
  return Leaf(reply.leaf, std::move(engine), std::move(guest));
}

}  // namespace

Result<LauncherLink::Created> LauncherLink::Create(const plan::LaunchPlan& plan, const std::vector<int>& fds) {
  plan::LaunchRequest request;
  request.verb = plan::Verb::kCreate;
  request.plan = plan;
  CAISSON_TRY(Answer answer, Ask(request, fds));
  if (answer.fds.size() < 2) return Fail(Error(Code::kInternal, "the launcher's reply lacks descriptors"));
  os::PidFd guest(std::move(answer.fds[0]));
  os::Fd kill = std::move(answer.fds[1]);
  CAISSON_TRY(Leaf leaf, TakeLeaf(answer.reply, std::move(answer.fds), 2));
  return Created{answer.reply.slot, std::move(guest), std::move(kill), std::move(leaf)};
}

Result<Leaf> LauncherLink::RotateLeaf(std::uint32_t slot, std::uint32_t retired_leaf) {
  plan::LaunchRequest request;
  request.verb = plan::Verb::kRotateLeaf;
  request.slot = slot;
  request.retired_leaf = retired_leaf;
  CAISSON_TRY(Answer answer, Ask(request, {}));
  return TakeLeaf(answer.reply, std::move(answer.fds), 0);
}

Result<bool> LauncherLink::WaitsForInput(std::uint32_t slot, std::uint32_t leaf, const plan::CommandInput& input,
                                         const Deadline& deadline) {
  plan::LaunchRequest request;
  request.verb = plan::Verb::kExamineLeaf;
  request.slot = slot;
  request.leaf = leaf;
  request.input = input;
  CAISSON_TRY(const Answer answer, exchange_.Ask(request, {}, deadline));
  return answer.reply.waits_for_input == 1;
}

Result<std::optional<LauncherLink::Survivor>> LauncherLink::NextSandbox(std::uint32_t after) {
  plan::LaunchRequest request;
  request.verb = plan::Verb::kNextSandbox;
  request.slot = after;
  CAISSON_TRY(Answer answer, Ask(request, {}));
  answer.reply.id[sizeof answer.reply.id - 1] = '\0';
  if (answer.reply.id[0] == '\0') return std::nullopt;
  CAISSON_TRY(SandboxId id, SandboxId::Parse(answer.reply.id));
  return Survivor{answer.reply.slot, std::move(id)};
}

Result<LauncherLink::TakenOver> LauncherLink::TakeOver(std::uint32_t slot, const std::vector<int>& fds) {
  plan::LaunchRequest request;
  request.verb = plan::Verb::kAdopt;
  request.slot = slot;
  CAISSON_TRY(Answer answer, Ask(request, fds));
  if (answer.fds.size() != 2) return Fail(Error(Code::kInternal, "the launcher's reply lacks descriptors"));
  return TakenOver{os::PidFd(std::move(answer.fds[0])), std::move(answer.fds[1]), answer.reply.is_frozen_by_order == 1};
}

Result<std::optional<LauncherLink::ParkedCommand>> LauncherLink::NextParked(std::uint32_t slot, std::uint32_t after) {
  plan::LaunchRequest request;
  request.verb = plan::Verb::kNextParked;
  request.slot = slot;
  request.leaf = after;
  CAISSON_TRY(Answer answer, Ask(request, {}));
  const std::size_t count = answer.reply.parked_fds;
  if (count == 0) return std::nullopt;
  if (count < plan::kLeastParkedFds || count > plan::kMostParkedFds || answer.fds.size() < count) {
    return Fail(Error(Code::kInternal, "the launcher's reply lacks descriptors"));
  }
  answer.reply.parked.id[sizeof answer.reply.parked.id - 1] = '\0';
  std::vector<os::Fd> fds;
  for (std::size_t i = 0; i < count; ++i) fds.push_back(std::move(answer.fds[i]));
  CAISSON_TRY(Leaf leaf, TakeLeaf(answer.reply, std::move(answer.fds), count));
  return ParkedCommand{answer.reply.parked, std::move(fds), std::move(leaf)};
}

Status LauncherLink::Park(std::uint32_t slot, std::uint32_t leaf, const plan::ParkedCommand& command,
                          const std::vector<int>& fds) {
  plan::LaunchRequest request;
  request.verb = plan::Verb::kPark;
  request.slot = slot;
  request.leaf = leaf;
  request.parked = command;
  return Tell(request, fds);
}

Status LauncherLink::Unpark(std::uint32_t slot, std::uint32_t leaf) {
  plan::LaunchRequest request;
  request.verb = plan::Verb::kUnpark;
  request.slot = slot;
  request.leaf = leaf;
  return Tell(request);
}

Result<bool> LauncherLink::SetFrozen(std::uint32_t slot, Freezer freezer) {
  plan::LaunchRequest request;
  request.verb = freezer == Freezer::kFrozen ? plan::Verb::kFreeze : plan::Verb::kThaw;
  request.slot = slot;
  CAISSON_TRY(const Answer answer, Ask(request, {}));
  return answer.reply.frozen == 1;
}

Result<bool> LauncherLink::HasKept(const plan::LaunchPlan& plan) {
  plan::LaunchRequest request;
  request.verb = plan::Verb::kFindKept;
  request.plan = plan;
  CAISSON_TRY(const Answer answer, Ask(request, {}));
  return answer.reply.id[0] != '\0';
}

Status LauncherLink::DiscardKept(const plan::LaunchPlan& plan) {
  plan::LaunchRequest request;
  request.verb = plan::Verb::kDiscard;
  request.plan = plan;
  CAISSON_TRY(const Answer done, Ask(request, {}));
  return {};
}

Status LauncherLink::Forget(std::uint32_t slot) {
  plan::LaunchRequest request;
  request.verb = plan::Verb::kDestroy;
  request.slot = slot;
  return Tell(request);
}

Status LauncherLink::Seal() {
  plan::LaunchRequest request;
  request.verb = plan::Verb::kSeal;
  return Tell(request);
}

Status LauncherLink::Tell(const plan::LaunchRequest& request, const std::vector<int>& fds) {
  return exchange_.Tell(request, fds);
}

}  // namespace caisson::backend
