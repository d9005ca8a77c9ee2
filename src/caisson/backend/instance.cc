#include "caisson/backend/instance.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <span>

#include "caisson/base/units.h"
#include "caisson/base/utf8.h"
#include "caisson/os/socket.h"
#include "caisson/plan/seccomp_program.h"

namespace caisson::backend {
namespace {

constexpr std::uint32_t kProtocolVersion = 1;
// The guest answers at once whatever its commands do; one that does not is lost.
constexpr std::chrono::seconds kGuestPatience{10};
constexpr std::chrono::seconds kDestroyPatience{5};
// The answer takes a tenth of a millisecond; a launcher that makes another sandbox meanwhile, or waits for a processor,
// needs longer, and the end of a command must not wait for that.
constexpr std::chrono::milliseconds kExaminePatience{25};

std::string FilterBytes(plan::FilterKind kind) {
  // Linux 6.3. The launcher has set it where it is.
  const bool has_sysctl = access("/proc/sys/vm/memfd_noexec", F_OK) == 0;
  const std::vector<sock_filter> program =
      plan::CompileFilter(kind, has_sysctl ? plan::MemoryFiles::kNonExecutable : plan::MemoryFiles::kRefused);
  const auto bytes = std::as_bytes(std::span(program));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string MakeConfigure(const plan::LaunchPlan& plan) {
  static const std::string guest_filter = FilterBytes(plan::FilterKind::kGuest);
  static const std::string command_filter = FilterBytes(plan::FilterKind::kCommand);
  proto::Request request;
  proto::Configure& configure = *request.mutable_configure();
  configure.set_version(kProtocolVersion);
  configure.set_guest_filter(guest_filter);
  configure.set_command_filter(command_filter);
  configure.set_prepare_image(plan.image == plan::Image::kDirectory);
  // A little more than the layer holds: a full layer says ENOSPC before a signal ends the program.
  configure.set_file_size_limit(plan.disk_bytes + KiB(64).value);
  return request.SerializeAsString();
}

// As much of it as a step has.
std::string StepOf(const proto::Reply& reply) {
  constexpr std::size_t kMostBytes = 200;
  return Printable(reply.step().substr(0, kMostBytes));
}

Status AwaitReady(const os::Fd& control) {
  CAISSON_TRY(const os::Message frame, os::ReceiveFrame(control.get(), Deadline::In(kGuestPatience)));
  proto::Reply reply;
  if (!reply.ParseFromString(frame.data)) return Fail(Error(Code::kInternal, "the guest's reply is malformed"));
  if (reply.error() == 0) return {};
  return Fail(Error::FromErrno(reply.error(), "it cannot confine itself: " + StepOf(reply))
                  .Remedy("see what this host lacks: caisson doctor"));
}

// The descriptors come from inside: a pipe or a terminal is all they may be.
bool IsStdio(const os::Fd& fd) {
  struct stat info{};
  return fstat(fd.get(), &info) == 0 && (S_ISFIFO(info.st_mode) || (S_ISCHR(info.st_mode) && isatty(fd.get()) == 1));
}

// How the command's end of a pipe or terminal is known, from ours.
std::optional<plan::CommandInput> ReadEndOf(int input) {
  struct stat info{};
  if (fstat(input, &info) != 0) return std::nullopt;
  if (S_ISFIFO(info.st_mode)) return plan::CommandInput{plan::InputKind::kPipe, info.st_ino};
  unsigned terminal = 0;
  if (ioctl(input, TIOCGPTN, &terminal) != 0) return std::nullopt;
  return plan::CommandInput{plan::InputKind::kTerminal, terminal};
}

}  // namespace

Instance::Instance(LauncherLink& link, os::Fd control, os::Fd changes, std::uint32_t slot, os::PidFd guest, os::Fd kill)
    : link_(link),
      slot_(slot),
      guest_(std::move(guest)),
      kill_(std::move(kill)),
      layer_(std::move(changes)),
      control_(std::move(control)) {}

Instance::~Instance() { (void)Destroy(); }

Result<std::unique_ptr<Instance>> Instance::Create(LauncherLink& link, const plan::LaunchPlan& plan,
                                                   const std::vector<int>& fds,
                                                   const std::function<Status()>& meanwhile) {
  CAISSON_TRY(auto ends, os::SocketPair(os::SocketKind::kStream));
  // The guest finds its configuration waiting: no round trip while it starts.
  CAISSON_CHECK_OK(os::SendFrame(ends.first.get(), MakeConfigure(plan)));
  CAISSON_TRY(auto changes, os::SocketPair(os::SocketKind::kStream));
  std::vector<int> all = {ends.second.get(), changes.second.get()};
  all.insert(all.end(), fds.begin(), fds.end());
  CAISSON_TRY(LauncherLink::Created created, link.Create(plan, all));
  // Only the guest and the storage process have them now: their end is the end of the stream.
  ends.second.Reset();
  changes.second.Reset();
  std::unique_ptr<Instance> instance(new Instance(link, std::move(ends.first), std::move(changes.first), created.slot,
                                                  std::move(created.guest), std::move(created.kill)));
  instance->ready_leaves_.push_back(std::move(created.first_leaf));
  if (meanwhile) CAISSON_CHECK_OK(meanwhile());
  if (Status ready = AwaitReady(instance->control_); !ready) {
    return Fail(std::move(ready).error().Context("the guest does not start"));
  }
  if (plan.image == plan::Image::kDirectory) {
    // The guest has put a home and users in: that is no change of a command's.
    CAISSON_TRY(const Layer::Report prepared,
                instance->layer_.TakeReport(plan::ReportScope::kEverything, plan::CheckRoom::kNo));
  }
  return instance;
}

Result<Instance::TakenOver> Instance::TakeOver(LauncherLink& link, std::uint32_t slot) {
  CAISSON_TRY(auto ends, os::SocketPair(os::SocketKind::kStream));
  CAISSON_TRY(auto changes, os::SocketPair(os::SocketKind::kStream));
  CAISSON_TRY(LauncherLink::TakenOver taken, link.TakeOver(slot, {ends.second.get(), changes.second.get()}));
  TakenOver result;
  result.instance.reset(new Instance(link, std::move(ends.first), std::move(changes.first), slot,
                                     std::move(taken.guest), std::move(taken.kill)));
  result.is_frozen = taken.is_frozen;
  return result;
}

Result<std::vector<std::uint64_t>> Instance::Greet() {
  proto::Request request;
  request.mutable_take_over()->set_version(kProtocolVersion);
  std::vector<os::Fd> none;
  CAISSON_TRY(const proto::Reply reply, Ask(request, {}, none));
  if (reply.error() != 0) {
    return Fail(Error(Code::kUnsupported, "the sandbox's first process is of another release")
                    .Because(StepOf(reply))
                    .Remedy("delete the sandbox, or use the release that made it"));
  }
  return std::vector<std::uint64_t>(reply.running().begin(), reply.running().end());
}

Result<std::vector<LauncherLink::ParkedCommand>> Instance::TakeParked() {
  std::vector<LauncherLink::ParkedCommand> commands;
  std::uint32_t leaf = 0;
  while (true) {
    CAISSON_TRY(auto next, link_.NextParked(slot_, leaf));
    if (!next) return commands;
    leaf = next->leaf.number();
    next->leaf.Restore({next->command.cpu_us, next->command.oom_kills, next->command.process_limit_hits});
    commands.push_back(*std::move(next));
  }
}

Status Instance::Park(const Leaf& leaf, const plan::ParkedCommand& command, const std::vector<int>& fds) {
  plan::ParkedCommand parked = command;
  parked.cpu_us = leaf.before().cpu_us;
  parked.oom_kills = leaf.before().oom_kills;
  parked.process_limit_hits = leaf.before().process_limit_hits;
  return link_.Park(slot_, leaf.number(), parked, fds);
}

Status Instance::Unpark(const Leaf& leaf) { return link_.Unpark(slot_, leaf.number()); }

Status Instance::SetFrozen(LauncherLink::Freezer freezer, const Deadline& deadline) {
  // A process in the middle of a system call needs a moment.
  constexpr int kFirstPauseMs = 1;
  constexpr int kLongestPauseMs = 20;
  for (int pause = kFirstPauseMs;; pause = std::min(2 * pause, kLongestPauseMs)) {
    CAISSON_TRY(const bool is_frozen, link_.SetFrozen(slot_, freezer));
    if (is_frozen == (freezer == LauncherLink::Freezer::kFrozen)) return {};
    if (deadline.Passed()) {
      return Fail(Error(Code::kDeadlineExceeded, "a process of the sandbox cannot be stopped where it is"));
    }
    poll(nullptr, 0, pause);
  }
}

Result<proto::Reply> Instance::Ask(const proto::Request& request, const std::vector<int>& fds,
                                   std::vector<os::Fd>& answer_fds) {
  const auto gone = [](Error error) { return Fail(std::move(error).Context("the sandbox does not answer")); };
  const std::lock_guard lock(control_mutex_);
  if (const Status sent = os::SendFrame(control_.get(), request.SerializeAsString(), fds); !sent)
    return gone(sent.error());
  auto frame = os::ReceiveFrame(control_.get(), Deadline::In(kGuestPatience));
  if (!frame) {
    KillAll();  // a late answer would be taken for the next one's
    return gone(frame.error());
  }
  proto::Reply reply;
  if (!reply.ParseFromString(frame->data)) return gone(Error(Code::kInternal, "the guest's reply is malformed"));
  answer_fds = std::move(frame->fds);
  return reply;
}

Result<std::uint64_t> Instance::NumberOf(const SharedPlan& plan, std::uint32_t id) {
  const std::lock_guard lock(plans_mutex_);
  for (const SentPlan& sent : plans_) {
    if (sent.id == id && sent.plan == plan) return sent.number;
  }
  proto::Request request;
  proto::MakePlan& make = *request.mutable_make_plan();
  make.set_id(id);
  for (const plan::FileGrant& grant : plan->grants) {
    proto::FileGrant& written = *make.add_grants();
    written.set_path(grant.path);
    written.set_rights(grant.rights);
    written.set_is_below(grant.reach == plan::FileGrant::Reach::kBelow);
  }
  std::vector<os::Fd> none;
  CAISSON_TRY(const proto::Reply reply, Ask(request, {}, none));
  if (reply.error() != 0) {
    return Fail(Error::FromErrno(reply.error(), "the policy cannot be enforced: " + StepOf(reply)));
  }
  // Fewer than the guest keeps.
  constexpr std::size_t kMostPlans = 6;
  if (plans_.size() == kMostPlans) plans_.pop_front();
  plans_.push_back({plan, id, reply.plan()});
  return reply.plan();
}

Result<Instance::Started> Instance::Start(const proto::StartCommand& command, const SharedPlan& plan) {
  proto::Request request;
  *request.mutable_start() = command;
  if (plan != nullptr) {
    CAISSON_TRY(const std::uint64_t number, NumberOf(plan, command.id()));
    request.mutable_start()->set_plan(number);
  }
  CAISSON_TRY(Leaf leaf, TakeLeaf());
  leaf.BeginCommand();
  std::vector<os::Fd> fds;
  Result<proto::Reply> asked = Ask(request, leaf.GuestFds(), fds);
  if (!asked) return Fail(std::move(asked).error().Context("the command may have begun"));
  const proto::Reply& reply = *asked;
  Started started;
  if (reply.error() != 0) {
    Return(std::move(leaf));
    started.error = reply.error();
    started.step = StepOf(reply);
    return started;
  }
  const std::size_t expected = command.has_terminal() ? 2 : 4;
  if (fds.size() != expected) return Fail(Error(Code::kInternal, "the guest's reply lacks descriptors"));
  for (const os::Fd& fd : fds) {
    if (!IsStdio(fd)) return Fail(Error(Code::kInternal, "the guest sent a descriptor that is no pipe or terminal"));
  }
  started.command = reply.command();
  started.end = std::move(fds[0]);
  for (std::size_t i = 1; i < fds.size(); ++i) started.stdio.push_back(std::move(fds[i]));
  started.leaf = std::move(leaf);
  return started;
}

Status Instance::Signal(std::uint64_t command, int signal) {
  proto::Request request;
  request.mutable_signal()->set_command(command);
  request.mutable_signal()->set_signal(signal);
  std::vector<os::Fd> fds;
  CAISSON_TRY(const proto::Reply reply, Ask(request, {}, fds));
  if (reply.error() != 0) return Fail(Error::FromErrno(reply.error(), "cannot signal the command"));
  return {};
}

bool Instance::WaitsForInput(const Leaf& leaf, int input) const {
  const std::optional<plan::CommandInput> read_end = ReadEndOf(input);
  if (!read_end) return false;
  const Result<bool> waits = link_.WaitsForInput(slot_, leaf.number(), *read_end, Deadline::In(kExaminePatience));
  return waits && *waits;
}

Result<Leaf> Instance::TakeLeaf() {
  {
    const std::lock_guard lock(state_mutex_);
    if (destroyed_) return Fail(Error(Code::kUnavailable, "the sandbox has ended"));
    if (!ready_leaves_.empty()) {
      Leaf leaf = std::move(ready_leaves_.back());
      ready_leaves_.pop_back();
      return leaf;
    }
  }
  return link_.RotateLeaf(slot_, NextRetired());
}

std::uint32_t Instance::NextRetired() {
  const std::lock_guard lock(state_mutex_);
  if (retired_.empty()) return 0;
  const std::uint32_t leaf = retired_.back();
  retired_.pop_back();
  return leaf;
}

void Instance::Return(Leaf leaf) {
  constexpr std::size_t kMaxReady = 4;
  const bool again = leaf.Recycle();
  const std::lock_guard lock(state_mutex_);
  if (again && ready_leaves_.size() < kMaxReady) {
    ready_leaves_.push_back(std::move(leaf));
  } else {
    retired_.push_back(leaf.number());
  }
}

void Instance::KillAll() const { (void)!write(kill_.get(), "1", 1); }

void Instance::Leave() {
  const std::lock_guard destroying(destroy_mutex_);
  is_gone_ = true;
  const std::lock_guard lock(state_mutex_);
  destroyed_ = true;
}

Status Instance::Destroy() {
  const std::lock_guard destroying(destroy_mutex_);
  if (is_gone_) return {};
  {
    const std::lock_guard lock(state_mutex_);
    destroyed_ = true;
  }
  // With cgroup.kill nothing inside can fork its way past the end of PID 1.
  KillAll();
  if (!guest_.Ended(Deadline::In(kDestroyPatience))) {
    return Fail(Error(Code::kDeadlineExceeded, "a process of the sandbox cannot be killed"));
  }
  CAISSON_CHECK_OK(link_.Forget(slot_));
  is_gone_ = true;
  return {};
}

}  // namespace caisson::backend
