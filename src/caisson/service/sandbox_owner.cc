#include "caisson/service/sandbox_owner.h"

#include <thread>
#include <utility>

#include "caisson/hint/hint.h"
#include "caisson/sandbox/command_output.h"
#include "caisson/service/lifetime.h"

namespace caisson::service {
namespace {

using sandbox::Lifecycle;
using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kFreezePatience{5};
// Longer than anything that is done in a sandbox without waiting for a program of it.
constexpr seconds kLifePatience{15};
constexpr seconds kEndPatience{5};
// All that a sandbox has written, on a disk that others use too.
constexpr seconds kStopPatience{300};
// A result that finds no room is not given up at once.
constexpr int kRecordAttempts = 5;
constexpr milliseconds kRecordPause{200};
// What a result keeps of each stream.
constexpr Bytes kKeptOutput = MiB(1);

std::string NameOf(Lifecycle state) { return std::string(sandbox::LifecycleName(state)); }

Error IsIn(Lifecycle state) {
  return Error(Code::kConflict, "the sandbox is " + NameOf(state))
      .Because("that cannot be done to a sandbox in this state")
      .Detail("state", NameOf(state));
}

std::string NewCommandId() { return "cm_" + SandboxId::Random().text().substr(3); }

}  // namespace

SandboxOwner::SandboxOwner(Node& node, Description description, std::unique_ptr<sandbox::Sandbox> box)
    : node_(node),
      description_(std::move(description)),
      box_(std::move(box)),
      state_(description_.state),
      seats_(node.limits.commands_of_a_sandbox),
      last_active_(Clock::now()),
      running_since_(Clock::now()) {}

SandboxOwner::~SandboxOwner() {
  ForgetAll();  // the threads of its commands end before what they use
  if (!is_gone_) box_->Leave();
}

Result<std::shared_lock<std::shared_timed_mutex>> SandboxOwner::Enter() {
  if (is_ending_) return Fail(IsIn(Lifecycle::kStopping));
  std::shared_lock lock(life_, kLifePatience);
  if (!lock) return Fail(Error(Code::kConflict, "the sandbox is busy changing its state").Retryable());
  if (state_ != Lifecycle::kRunning || is_ending_) return Fail(IsIn(is_ending_ ? Lifecycle::kStopping : state_.load()));
  return lock;
}

Error SandboxOwner::AsItEnds() { return IsIn(Lifecycle::kStopping); }

Status SandboxOwner::ChangeState(Lifecycle to, const std::string& reason, const std::string& caller,
                                 std::optional<milliseconds> deadline) {
  const Lifecycle from = state_;
  if (!sandbox::MayFollow(from, to)) return Fail(IsIn(from));
  const auto now = Clock::now();
  const Instant at{now, Now()};
  milliseconds used = description_.used_lifetime;
  if (from == Lifecycle::kRunning) used += duration_cast<milliseconds>(now - running_since_.load());
  state::StateChange change{.id = id(), .from = NameOf(from), .to = NameOf(to), .at = at.time_of_day, .reason = reason};
  if (deadline) change.deadline_at = at.time_of_day + deadline->count();
  const auto clock = to == Lifecycle::kRunning ? LifetimeClock::kRuns : LifetimeClock::kStands;
  change.also = LifetimeUpdate(used, description_.settings.max_lifetime, clock, at);
  CAISSON_CHECK_OK(RecordState(node_, change, caller));
  description_.used_lifetime = used;
  if (to == Lifecycle::kRunning) running_since_ = now;
  state_ = to;
  return {};
}

sandbox::CommandSpec SandboxOwner::SpecOf(const CommandRequest& request) const {
  sandbox::CommandSpec spec;
  spec.argv = request.argv;
  spec.env = description_.settings.env;
  spec.env.insert(spec.env.end(), request.env.begin(), request.env.end());
  if (request.cwd) spec.cwd = *request.cwd;
  spec.user = request.user;
  spec.timeout = request.timeout.value_or(description_.settings.command_timeout);
  spec.kept_output = kKeptOutput;
  spec.report_changes = request.report_changes;
  return spec;
}

Status SandboxOwner::Begin(const std::string& caller) {
  const std::unique_lock lock(life_, kLifePatience);
  if (!lock) return Fail(Error(Code::kConflict, "the sandbox is busy").Retryable());
  return ChangeState(Lifecycle::kRunning, {}, caller);
}

Result<std::vector<CommandSeats::Seat>> SandboxOwner::AdmitCommand() {
  std::vector<CommandSeats::Seat> seats;
  seats.push_back(seats_.Take());
  if (!seats.back()) return Fail(NoCapacity("as many commands run in the sandbox as may", seconds(1)));
  seats.push_back(node_.commands.Take());
  if (!seats.back()) return Fail(NoCapacity("as many commands run on the node as may", seconds(1)));
  return seats;
}

Result<CommandInfo> SandboxOwner::StartCommand(const Caller& caller, const CommandRequest& request) {
  CAISSON_TRY(const std::shared_lock lock, Enter());
  const ActivityMark mark(*this);
  ForgetEnded();
  CAISSON_TRY(auto seats, AdmitCommand());
  const sandbox::CommandSpec spec = SpecOf(request);
  CAISSON_CHECK_OK(sandbox::Sandbox::Check(spec));
  const UnixMs at = Now();
  state::CommandRecord record{.id = NewCommandId(), .sandbox = id(), .state = state::CommandState::kRunning};
  record.spec = WriteCommandSettings({.argv = spec.argv, .cwd = spec.cwd, .user = spec.user, .caller = caller.name});
  record.started_at = at;
  record.timeout = spec.timeout;
  CAISSON_TRY(record.step, node_.database.InsertCommand(record, NameOf(Lifecycle::kRunning)));
  auto command = std::make_shared<RunningCommand>(record.id, record.step, spec, std::move(seats));
  {
    const std::lock_guard commands(commands_mutex_);
    commands_.emplace(record.id, command);
  }
  auto started = box_->StartSpooled(
      spec, record.id,
      request.input == CommandRequest::Input::kOpen ? sandbox::Sandbox::Input::kOpen
                                                    : sandbox::Sandbox::Input::kOnlyFirst,
      request.stdin_bytes,
      [this, raw = command.get()](Result<sandbox::CommandResult> result) { Record(*raw, std::move(result)); });
  if (!started) {
    sandbox::CommandResult result;
    result.outcome =
        sandbox::FailedToStart{.errno_value = started.error().errno_value(), .step = started.error().message()};
    Record(*command, std::move(result));
  } else if (started->failed) {
    Record(*command, *std::move(started->failed));
  } else {
    command->Set(std::move(started->command));
  }
  return InfoOf(record);
}

// Writes down how a command ended, from the command's own thread, before anybody hears of it.
void SandboxOwner::Record(RunningCommand& command, Result<sandbox::CommandResult> result) {
  sandbox::CommandResult ended = result ? *std::move(result) : LostResult();
  const std::vector<hint::Hint> hints = hint::FindHints({.command = command.spec(),
                                                         .result = ended,
                                                         .limits = description_.settings.limits,
                                                         .storage = description_.settings.storage});
  const state::CommandEnd end{.id = command.id(),
                              .at = Now(),
                              .summary = WriteSummary(ended.outcome),
                              .result = WriteResult(ended, hints),
                              .stdout_bytes = ended.out.total_bytes,
                              .stderr_bytes = ended.err.total_bytes};
  const state::EventRecord event{.time = end.at,
                                 .type = "command.ended",
                                 .sandbox = id().text(),
                                 .command = command.id(),
                                 .detail = std::string(sandbox::OutcomeName(ended.outcome))};
  for (int attempt = 1; !node_.database.EndCommand(end, event) && attempt < kRecordAttempts; ++attempt) {
    std::this_thread::sleep_for(kRecordPause);
  }
  last_active_ = Clock::now();
  command.End();
  node_.events.Tell();
}

Status SandboxOwner::TakeCommands(const std::vector<state::CommandRecord>& not_ended) {
  std::map<std::string, const state::CommandRecord*> unknown;
  for (const state::CommandRecord& record : not_ended) unknown.emplace(record.id, &record);
  auto survivors = box_->TakeCommands(kKeptOutput, [&](const std::string& command_id) {
    sandbox::CommandSpec spec;
    std::uint64_t step = 0;
    if (const auto found = unknown.find(command_id); found != unknown.end()) {
      step = found->second->step;
      spec.timeout = found->second->timeout;
      if (auto settings = ReadCommandSettings(found->second->spec)) spec.argv = settings->argv;
    }
    std::vector<CommandSeats::Seat> seats;
    seats.push_back(seats_.TakeAnyway());
    seats.push_back(node_.commands.TakeAnyway());
    auto command = std::make_shared<RunningCommand>(command_id, step, std::move(spec), std::move(seats));
    {
      const std::lock_guard commands(commands_mutex_);
      commands_.emplace(command_id, command);
    }
    return [this, raw = command.get()](Result<sandbox::CommandResult> result) { Record(*raw, std::move(result)); };
  });
  if (!survivors) return Fail(std::move(survivors).error());
  for (sandbox::Sandbox::Survivor& survivor : *survivors) {
    unknown.erase(survivor.id);
    if (const auto command = FindCommand(survivor.id)) command->Set(std::move(survivor.command));
  }
  for (const auto& [command, record] : unknown) RecordLost(node_, *record, "its daemon ended while it was started");
  return {};
}

std::shared_ptr<RunningCommand> SandboxOwner::FindCommand(std::string_view id) const {
  const std::lock_guard lock(commands_mutex_);
  const auto found = commands_.find(id);
  return found == commands_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<RunningCommand>> SandboxOwner::Commands() const {
  const std::lock_guard lock(commands_mutex_);
  std::vector<std::shared_ptr<RunningCommand>> all;
  for (const auto& [id, command] : commands_) all.push_back(command);
  return all;
}

void SandboxOwner::ForgetEnded() {
  std::vector<std::shared_ptr<RunningCommand>> ended;  // destroyed without the lock: their threads are joined
  const std::lock_guard lock(commands_mutex_);
  for (auto entry = commands_.begin(); entry != commands_.end();) {
    if (entry->second->has_ended()) {
      ended.push_back(std::move(entry->second));
      entry = commands_.erase(entry);
    } else {
      ++entry;
    }
  }
}

void SandboxOwner::ForgetAll() {
  decltype(commands_) all;
  const std::lock_guard lock(commands_mutex_);
  all.swap(commands_);
}

Status SandboxOwner::Pause(const Caller& caller) {
  const std::unique_lock lock(life_, kLifePatience);
  if (!lock) return Fail(Error(Code::kConflict, "the sandbox is busy").Retryable());
  CAISSON_CHECK_OK(ChangeState(Lifecycle::kPausing, {}, caller.name, kFreezePatience * 2));
  const auto running = Commands();
  for (const auto& command : running) {
    if (command->command() != nullptr) command->command()->Pause();
  }
  Status frozen = box_->Freeze(Deadline::In(kFreezePatience));
  if (frozen) return ChangeState(Lifecycle::kPaused, {}, caller.name);
  (void)box_->Thaw(Deadline::In(kFreezePatience));
  for (const auto& command : running) {
    if (command->command() != nullptr) command->command()->Resume();
  }
  CAISSON_CHECK_OK(
      ChangeState(Lifecycle::kRunning, "it could not be paused: " + frozen.error().message(), caller.name));
  return frozen;
}

Status SandboxOwner::Resume(const Caller& caller) {
  const std::unique_lock lock(life_, kLifePatience);
  if (!lock) return Fail(Error(Code::kConflict, "the sandbox is busy").Retryable());
  CAISSON_CHECK_OK(ChangeState(Lifecycle::kResuming, {}, caller.name, kFreezePatience * 2));
  if (Status thawed = box_->Thaw(Deadline::In(kFreezePatience)); !thawed) {
    CAISSON_CHECK_OK(
        ChangeState(Lifecycle::kPaused, "it could not be resumed: " + thawed.error().message(), caller.name));
    return thawed;
  }
  for (const auto& command : Commands()) {
    if (command->command() != nullptr) command->command()->Resume();
  }
  last_active_ = Clock::now();
  return ChangeState(Lifecycle::kRunning, {}, caller.name);
}

Status SandboxOwner::CheckMayStop(const Settings& settings) {
  const auto refuse = [](const char* why) {
    return Fail(Error(Code::kUnsupported, "the sandbox cannot be stopped and started again")
                    .Because(why)
                    .Remedy("pause it, or make one of storage btrfs or directory with a copy of its workspace"));
  };
  if (settings.storage == plan::Storage::kTmpfs) return refuse("its files are in memory");
  const bool uses_host = settings.image != "host" || settings.workspace_mode == plan::WorkspaceMode::kReadOnly ||
                         settings.workspace_mode == plan::WorkspaceMode::kReadWrite;
  return uses_host ? refuse("it uses a folder of the host, which only its caller may open") : Status();
}

Status SandboxOwner::Stop(const std::string& reason, const std::string& caller) {
  CAISSON_CHECK_OK(CheckMayStop(description_.settings));
  std::string why = reason;
  {
    const std::unique_lock lock(life_, kLifePatience);
    if (!lock) return Fail(Error(Code::kConflict, "the sandbox is busy").Retryable());
    const Lifecycle before = state_;
    CAISSON_CHECK_OK(ChangeState(Lifecycle::kStopping, reason, caller, kStopPatience));
    // Most of it, and what can fail, while it still lives.
    if (Status kept = box_->KeepFiles(); !kept) {
      CAISSON_CHECK_OK(ChangeState(before, "it could not be stopped: " + kept.error().message(), caller));
      return kept;
    }
    is_ending_ = true;
    box_->KillAll();
    if (const Status rest = box_->KeepFiles(); !rest) why += "; its last writes may be lost: " + rest.error().message();
  }
  return End(Lifecycle::kStopped, why, caller);
}

Status SandboxOwner::End(Lifecycle to, const std::string& reason, const std::string& caller) {
  is_ending_ = true;
  // Whoever waits for something inside is let go.
  box_->KillAll();
  const std::unique_lock lock(life_, kLifePatience);
  Status dead =
      lock ? Status() : Fail(Error(Code::kDeadlineExceeded, "something in the sandbox does not end").Retryable());
  if (dead && !is_gone_) dead = box_->Destroy();
  if (!dead) {
    is_ending_ = is_gone_.load();  // the next who sees that it has ended tries again
    return dead;
  }
  if (!is_gone_) {
    for (const auto& command : Commands()) (void)command->AwaitEnd(kEndPatience);
    ForgetAll();
    is_gone_ = true;
  }
  if (state_ == to || state_ == Lifecycle::kDeleted) return {};
  if (to == Lifecycle::kDeleted) CAISSON_CHECK_OK(node_.sandboxes.Discard(id(), storage()));
  return ChangeState(to, reason, caller);
}

std::string SandboxOwner::WhyOver(Clock::time_point now) {
  ForgetEnded();
  // While its state changes nobody knows how long it has run.
  const std::shared_lock lock(life_, std::try_to_lock);
  if (!lock || state_ != Lifecycle::kRunning || is_ending_) return {};
  const auto& lifetime = description_.settings.max_lifetime;
  if (lifetime && description_.used_lifetime + (now - running_since_.load()) >= *lifetime) return "max_lifetime";
  const bool is_idle = calls_ == 0 && CountCommands() == 0;
  if (is_idle && description_.idle_timeout && now - last_active_.load() >= *description_.idle_timeout) {
    return "idle_timeout";
  }
  return {};
}

}  // namespace caisson::service
