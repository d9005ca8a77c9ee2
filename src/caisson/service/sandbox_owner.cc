#include "caisson/service/sandbox_owner.h"

#include <algorithm>
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
// After files that could not be kept, before that is tried again without anybody asking.
constexpr seconds kStopPause{10};
constexpr const char* kNotPaused = "it could not be paused: ";
// What a result keeps of each stream.
constexpr Bytes kKeptOutput = MiB(1);

Error IsIn(Lifecycle state) {
  Error error = Error(Code::kConflict, "the sandbox is " + NameOf(state))
                    .Because("that cannot be done to a sandbox in this state")
                    .Detail("state", NameOf(state));
  return state == Lifecycle::kPaused ? std::move(error).Remedy("let it run again: caisson resume") : error;
}

std::string NewCommandId() { return "cm_" + SandboxId::Random().text().substr(3); }

}  // namespace

SandboxOwner::SandboxOwner(Node& node, Description description, std::unique_ptr<sandbox::Sandbox> box)
    : node_(node),
      description_(std::move(description)),
      box_(std::move(box)),
      state_(description_.state),
      gate_(node.database, description_.settings.image == "host" ? &node.host_programs : nullptr, description_.id),
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
  state_until_ = deadline ? now + *deadline : Clock::time_point::max();
  lets_run_ = false;
  if (to == Lifecycle::kRunning) running_since_ = now;
  state_ = to;
  return {};
}

sandbox::CommandSpec SandboxOwner::BareSpec(std::optional<milliseconds> timeout) const {
  sandbox::CommandSpec spec;
  spec.env = description_.settings.env;
  spec.timeout = timeout.value_or(description_.settings.command_timeout);
  spec.kept_output = kKeptOutput;
  return spec;
}

sandbox::CommandSpec SandboxOwner::SpecOf(const CommandRequest& request) const {
  sandbox::CommandSpec spec = BareSpec(request.timeout);
  spec.argv = request.argv;
  spec.env.insert(spec.env.end(), request.env.begin(), request.env.end());
  if (request.cwd) spec.cwd = *request.cwd;
  spec.user = request.user;
  spec.report_changes = request.report_changes;
  return spec;
}

sandbox::Sandbox::Input SandboxOwner::InputOf(const CommandRequest& request) {
  using Input = sandbox::Sandbox::Input;
  return request.input == CommandRequest::Input::kOpen ? Input::kOpen : Input::kOnlyFirst;
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

Result<CommandInfo> SandboxOwner::StartCommand(const Caller& caller, const CommandRequest& request,
                                               const std::optional<CheckedPolicy>& policy) {
  CAISSON_TRY(const std::shared_lock lock, Enter());
  const ActivityMark mark(*this);
  CAISSON_TRY(auto seats, AdmitCommand());
  const sandbox::CommandSpec spec = SpecOf(request);
  CAISSON_CHECK_OK(sandbox::Sandbox::Check(spec));
  if (policy && !policy->policy.allows_everything()) {
    CAISSON_TRY(ToolStep judged, StartUnder(*policy, caller, request, std::move(seats)));
    return std::move(judged.command);
  }
  CAISSON_TRY(const Step step, TakeStep(caller, spec, {}, std::move(seats)));
  StartStep(step, InputOf(request), request.stdin_bytes);
  // Only now: the command runs meanwhile.
  ForgetEnded();
  return InfoOf(step.record);
}

Result<SandboxOwner::Step> SandboxOwner::TakeStep(const Caller& caller, const sandbox::CommandSpec& spec, Terms terms,
                                                  std::vector<CommandSeats::Seat> seats) {
  state::CommandRecord record{.id = NewCommandId(), .sandbox = id(), .state = state::CommandState::kRunning};
  record.spec = WriteCommandSettings({.argv = spec.argv,
                                      .cwd = spec.cwd,
                                      .user = spec.user,
                                      .caller = caller.name,
                                      .decision = terms.decision,
                                      .stop = terms.stop});
  record.started_at = Now();
  record.timeout = spec.timeout;
  CAISSON_TRY(record.step, node_.database.InsertCommand(record, NameOf(Lifecycle::kRunning)));
  auto command = std::make_shared<RunningCommand>(record.id, record.step, spec, std::move(seats), std::move(terms));
  const std::lock_guard commands(commands_mutex_);
  commands_.emplace(record.id, command);
  return Step{.record = std::move(record), .command = std::move(command)};
}

void SandboxOwner::StartStep(const Step& step, sandbox::Sandbox::Input input, std::string_view stdin_bytes) {
  RunningCommand& command = *step.command;
  auto started = box_->StartSpooled(command.spec(), command.id(), input, stdin_bytes, OnEndOf(command));
  if (!started) {
    sandbox::CommandResult result;
    result.outcome =
        sandbox::FailedToStart{.errno_value = started.error().errno_value(), .step = started.error().message()};
    Record(command, std::move(result));
  } else if (started->failed) {
    Record(command, *std::move(started->failed));
  } else {
    command.Set(std::move(started->command));
  }
}

// Called in the command's own thread, which waits until the result is recorded: until then nobody hears of the end, and
// the launcher keeps the command. `command` outlives its thread.
sandbox::OnCommandEnd SandboxOwner::OnEndOf(RunningCommand& command) {
  return [this, &command](Result<sandbox::CommandResult> result) {
    Record(command, std::move(result));
    return command.AwaitRecorded() ? sandbox::Recorded::kYes : sandbox::Recorded::kNo;
  };
}

// What finds no room in the database stays in memory, and its command keeps its seats: there is no more of it than
// commands may run.
void SandboxOwner::Record(RunningCommand& command, Result<sandbox::CommandResult> result) {
  sandbox::CommandResult ended = result ? *std::move(result) : LostResult();
  ended.decision = command.DecisionOf(ended.outcome, node_.time_of_day());
  const std::vector<hint::Hint> hints = hint::FindHints({.command = command.spec(),
                                                         .result = ended,
                                                         .limits = description_.settings.limits,
                                                         .storage = description_.settings.storage});
  state::CommandEnd end{
      .id = command.id(),
      .at = Now(),
      .summary = WriteSummary(ended.outcome),
      .result = WriteResult(ended, hints),
      .stdout_bytes = ended.out.total_bytes,
      .stderr_bytes = ended.err.total_bytes,
      .spool_bytes = sandbox::CommandOutput::DiskBytes(node_.sandboxes.spool_directory(), command.id())};
  state::EventRecord event{.time = end.at,
                           .type = "command.ended",
                           .sandbox = id().text(),
                           .command = command.id(),
                           .detail = std::string(sandbox::OutcomeName(ended.outcome))};
  last_active_ = Clock::now();
  command.Conclude([this, end = std::move(end), event = std::move(event)] {
    if (!RecordEnd(node_, end, event)) return false;
    last_active_ = Clock::now();
    return true;
  });
}

void SandboxOwner::StopWhatIsDue() {
  const policy::Time now = node_.time_of_day();
  for (const auto& command : Commands()) command->StopWhenDue(now);
}

bool SandboxOwner::RecordResults() {
  // The next would find no room either.
  return std::ranges::all_of(Commands(), [](const auto& command) { return command->TryToRecord(); });
}

// A command that another daemon started.
std::shared_ptr<RunningCommand> SandboxOwner::Adopt(const state::CommandRecord& record) {
  sandbox::CommandSpec spec;
  spec.timeout = record.timeout;
  Terms terms;
  if (auto settings = ReadCommandSettings(record.spec)) {
    spec.argv = std::move(settings->argv);
    terms = {.decision = std::move(settings->decision), .stop = std::move(settings->stop)};
  }
  std::vector<CommandSeats::Seat> seats;
  seats.push_back(seats_.TakeAnyway());
  seats.push_back(node_.commands.TakeAnyway());
  auto command =
      std::make_shared<RunningCommand>(record.id, record.step, std::move(spec), std::move(seats), std::move(terms));
  const std::lock_guard commands(commands_mutex_);
  return commands_.emplace(record.id, std::move(command)).first->second;
}

Status SandboxOwner::TakeCommands(const std::vector<state::CommandRecord>& not_ended) {
  std::map<std::string, const state::CommandRecord*> unknown;
  for (const state::CommandRecord& record : not_ended) unknown.emplace(record.id, &record);
  auto survivors = box_->TakeCommands(kKeptOutput, [&](const std::string& command_id) {
    const auto found = unknown.find(command_id);
    return OnEndOf(*(found == unknown.end() ? Adopt({.id = command_id, .sandbox = id()}) : Adopt(*found->second)));
  });
  if (!survivors) return Fail(std::move(survivors).error());
  for (sandbox::Sandbox::Survivor& survivor : *survivors) {
    unknown.erase(survivor.id);
    if (const auto command = FindCommand(survivor.id)) command->Set(std::move(survivor.command));
  }
  for (const auto& [command_id, record] : unknown) {
    const auto command = Adopt(*record);
    command->Conclude([this, lost = *record] {
      return RecordLost(node_, lost, "its daemon ended while it was started").has_value();
    });
  }
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

Status SandboxOwner::LetRun() {
  CAISSON_CHECK_OK(box_->Thaw(Deadline::In(kFreezePatience)));
  for (const auto& command : Commands()) {
    if (command->command() != nullptr) command->command()->Resume();
  }
  lets_run_ = true;
  last_active_ = Clock::now();
  return {};
}

Status SandboxOwner::Pause(const Caller& caller) {
  const std::unique_lock lock(life_, kLifePatience);
  if (!lock) return Fail(Error(Code::kConflict, "the sandbox is busy").Retryable());
  if (is_ending_) return Fail(AsItEnds());
  CAISSON_CHECK_OK(ChangeState(Lifecycle::kPausing, {}, caller.name, kFreezePatience * 3));
  for (const auto& command : Commands()) {
    if (command->command() != nullptr) command->command()->Pause();
  }
  Status paused = box_->Freeze(Deadline::In(kFreezePatience));
  if (paused) paused = ChangeState(Lifecycle::kPaused, {}, caller.name);
  if (paused) return paused;
  // What cannot be undone now is left to Settle.
  if (LetRun()) (void)ChangeState(Lifecycle::kRunning, kNotPaused + paused.error().message(), caller.name);
  return paused;
}

Status SandboxOwner::Resume(const Caller& caller) {
  const std::unique_lock lock(life_, kLifePatience);
  if (!lock) return Fail(Error(Code::kConflict, "the sandbox is busy").Retryable());
  if (is_ending_) return Fail(AsItEnds());
  CAISSON_CHECK_OK(ChangeState(Lifecycle::kResuming, {}, caller.name, kFreezePatience * 3));
  Status resumed = LetRun();
  if (resumed) return ChangeState(Lifecycle::kRunning, {}, caller.name);
  (void)ChangeState(Lifecycle::kPaused, "it could not be resumed: " + resumed.error().message(), caller.name);
  return resumed;
}

void SandboxOwner::Settle() {
  const std::unique_lock lock(life_, std::try_to_lock);
  if (!lock || is_ending_) return;
  const Lifecycle from = state_;
  if (from != Lifecycle::kPausing && from != Lifecycle::kResuming) return;
  if (!lets_run_ && !LetRun()) return;
  const std::string reason = from == Lifecycle::kPausing ? kNotPaused + std::string("it could not be recorded") : "";
  (void)ChangeState(Lifecycle::kRunning, reason, kDaemon);
}

Status SandboxOwner::AwaitResults() {
  const auto patience = Clock::now() + kEndPatience;
  for (const auto& command : Commands()) {
    if (!command->TryToRecord()) break;
    (void)command->AwaitEnd(std::max(milliseconds(0), duration_cast<milliseconds>(patience - Clock::now())));
  }
  ForgetEnded();
  if (Commands().empty()) return {};
  return Fail(Error(Code::kResourceExhausted, "the end of its commands cannot be recorded now")
                  .Remedy("see whether there is room where the data folder lies")
                  .Retryable());
}

Status SandboxOwner::CheckMayStop(const Settings& settings, Code code) {
  const auto refuse = [code](const char* why) {
    return Fail(Error(code, "the sandbox cannot be stopped and started again")
                    .Because(why)
                    .Remedy("pause it, or make one of storage btrfs or directory with a copy of its workspace"));
  };
  if (settings.storage == plan::Storage::kTmpfs) return refuse("its files are in memory");
  const bool uses_host = settings.image != "host" || settings.workspace_mode == plan::WorkspaceMode::kReadOnly ||
                         settings.workspace_mode == plan::WorkspaceMode::kReadWrite;
  return uses_host ? refuse("it uses a folder of the host, which only its caller may open") : Status();
}

Status SandboxOwner::Stop(const std::string& reason, const std::string& caller) {
  CAISSON_CHECK_OK(CheckMayStop(description_.settings, Code::kConflict));
  const std::unique_lock lock(life_, kLifePatience);
  if (!lock) return Fail(Error(Code::kConflict, "the sandbox is busy").Retryable());
  if (is_ending_) return Fail(AsItEnds());
  const Lifecycle before = state_;
  CAISSON_CHECK_OK(ChangeState(Lifecycle::kStopping, reason, caller, kStopPatience));
  // Most of it, and what can fail, while it still lives.
  if (Status kept = box_->KeepFiles(); !kept) {
    stop_again_at_ = Clock::now() + kStopPause;
    CAISSON_CHECK_OK(ChangeState(before, "it could not be stopped: " + kept.error().message(), caller));
    return kept;
  }
  is_ending_ = true;
  box_->KillAll();
  const Status rest = box_->KeepFiles();
  const std::string loss = rest ? "" : "; its last writes may be lost: " + rest.error().message();
  return EndHeld(Lifecycle::kStopped, reason + loss, caller);
}

Status SandboxOwner::End(Lifecycle to, const std::string& reason, const std::string& caller) {
  is_ending_ = true;
  // Whoever waits for something inside is let go.
  box_->KillAll();
  const std::unique_lock lock(life_, kLifePatience);
  if (lock) return EndHeld(to, reason, caller);
  is_ending_ = is_gone_.load();
  return Fail(Error(Code::kDeadlineExceeded, "something in the sandbox does not end").Retryable());
}

Status SandboxOwner::EndHeld(Lifecycle to, const std::string& reason, const std::string& caller) {
  if (!is_gone_) {
    if (Status dead = box_->Destroy(); !dead) {
      is_ending_ = false;  // the next who sees that it has ended tries again
      return dead;
    }
    is_gone_ = true;
  }
  if (IsOver() && to != Lifecycle::kDeleted) return {};
  if (state_ == Lifecycle::kDeleted) return {};
  const plan::Storage storage = description_.settings.storage;
  if (to == Lifecycle::kFailed) {
    CAISSON_TRY(const bool has_kept, node_.sandboxes.HasKept(id(), storage));
    if (has_kept) to = Lifecycle::kStopped;
  }
  if (!ending_ || (to == Lifecycle::kDeleted && ending_->to != to)) ending_ = Ending{to, reason, caller};
  CAISSON_CHECK_OK(AwaitResults());
  if (ending_->to == Lifecycle::kDeleted) CAISSON_CHECK_OK(node_.sandboxes.Discard(id(), storage));
  CAISSON_CHECK_OK(ChangeState(ending_->to, ending_->reason, ending_->caller));
  ending_.reset();
  return {};
}

bool SandboxOwner::IsOver() const {
  return state_ == Lifecycle::kStopped || state_ == Lifecycle::kFailed || state_ == Lifecycle::kDeleted;
}

SandboxOwner::Care SandboxOwner::LookAfter(Clock::time_point now) {
  using Need = Care::Need;
  if (is_gone_ && IsOver()) return {};
  if (is_gone_) return {Need::kEnd, Lifecycle::kFailed, "its first process has ended"};
  StopWhatIsDue();
  RecordResults();
  ForgetEnded();
  const bool lasts_too_long = now >= state_until_.load() && !lets_run_ && !is_ending_;
  if (lasts_too_long) {
    return {Need::kEnd, Lifecycle::kFailed, "it was " + NameOf(state_) + " for longer than that may take"};
  }
  // While its state changes nobody knows how long it has run.
  const std::shared_lock lock(life_, std::try_to_lock);
  if (!lock || is_ending_) return {};
  if (sandbox::IsIntermediate(state_)) return {Need::kSettle, Lifecycle::kRunning, {}};
  if (state_ != Lifecycle::kRunning) return {};
  const Need over = description_.on_end == OnEnd::kKeep ? Need::kStop : Need::kEnd;
  if (over == Need::kStop && now < stop_again_at_.load()) return {};
  const auto& lifetime = description_.settings.max_lifetime;
  if (lifetime && description_.used_lifetime + (now - running_since_.load()) >= *lifetime) {
    return {over, Lifecycle::kDeleted, "max_lifetime"};
  }
  const bool is_idle = calls_ == 0 && CountCommands() == 0;
  if (is_idle && description_.idle_timeout && now - last_active_.load() >= *description_.idle_timeout) {
    return {over, Lifecycle::kDeleted, "idle_timeout"};
  }
  return {};
}

}  // namespace caisson::service
