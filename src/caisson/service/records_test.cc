#include "caisson/service/records.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "caisson/service/record.pb.h"

namespace caisson::service {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

Settings SomeSettings() {
  return {.limits = {.cpus = {1500}, .memory = GiB(5), .disk = {123'456'789'012}, .pids = 77},
          .command_timeout = milliseconds(4321),
          .storage = plan::Storage::kDirectory,
          .image = "/srv/ima\xffge",
          .workspace = std::string("/w\0/\n", 5),
          .workspace_mode = plan::WorkspaceMode::kReadOnly,
          .env = {{"A", "1"}, {"B", "\xff="}, {"A", ""}},
          .max_lifetime = milliseconds(99),
          .execution = plan::Execution::kProgramFolders,
          .sources = ValueSources{{"pids", "caisson.toml:3"}, {"env", "\xff"}}};
}

void ExpectDamaged(const auto& result) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::kInternal);
  EXPECT_FALSE(result.error().remediation().empty());
}

TEST(Settings, ComeBack) {
  const auto read = ReadSettings(WriteSettings(SomeSettings()));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->limits.cpus.value, 1500U);
  EXPECT_EQ(read->limits.memory, GiB(5));
  EXPECT_EQ(read->limits.disk.value, 123'456'789'012U);
  EXPECT_EQ(read->limits.pids, 77U);
  EXPECT_EQ(read->command_timeout, milliseconds(4321));
  EXPECT_EQ(read->storage, plan::Storage::kDirectory);
  EXPECT_EQ(read->image, SomeSettings().image);
  EXPECT_EQ(read->workspace, SomeSettings().workspace);
  EXPECT_EQ(read->workspace_mode, plan::WorkspaceMode::kReadOnly);
  EXPECT_EQ(read->env, SomeSettings().env);
  EXPECT_EQ(read->max_lifetime, milliseconds(99));
  EXPECT_EQ(read->execution, plan::Execution::kProgramFolders);
  EXPECT_EQ(read->sources, SomeSettings().sources);
}

TEST(Settings, OfEveryKindComeBack) {
  for (const auto storage : {plan::Storage::kTmpfs, plan::Storage::kDirectory, plan::Storage::kBtrfs}) {
    for (const auto mode : {plan::WorkspaceMode::kNone, plan::WorkspaceMode::kCopy, plan::WorkspaceMode::kReadOnly,
                            plan::WorkspaceMode::kReadWrite}) {
      Settings settings;
      settings.storage = storage;
      settings.workspace_mode = mode;
      const auto read = ReadSettings(WriteSettings(settings));
      ASSERT_TRUE(read);
      EXPECT_EQ(read->storage, storage);
      EXPECT_EQ(read->workspace_mode, mode);
      EXPECT_FALSE(read->max_lifetime);
      EXPECT_FALSE(read->sources);
      EXPECT_TRUE(read->env.empty());
    }
  }
}

TEST(Settings, ThatAreDamagedAreNotRead) {
  const std::string good = WriteSettings(SomeSettings());
  ExpectDamaged(ReadSettings("\xff\xff\xff"));
  ExpectDamaged(ReadSettings(good.substr(0, good.size() - 1)));
  ExpectDamaged(ReadSettings(""));
  proto::SandboxSettings message;
  message.set_pids(1);
  message.set_storage(3);
  ExpectDamaged(ReadSettings(message.SerializeAsString()));
  message.set_storage(0);
  EXPECT_TRUE(ReadSettings(message.SerializeAsString()));
  message.set_workspace_mode(4);
  ExpectDamaged(ReadSettings(message.SerializeAsString()));
  message.set_workspace_mode(0);
  message.set_execution(2);
  ExpectDamaged(ReadSettings(message.SerializeAsString()));
}

sandbox::DecisionNote SomeDecision() {
  return {.effect = "deny", .rule = "r\xff", .source = "policy.toml:3", .reason = "why", .alternative = "how"};
}

void ExpectSame(const sandbox::DecisionNote& read) {
  EXPECT_EQ(read.effect, "deny");
  EXPECT_EQ(read.rule, "r\xff");
  EXPECT_EQ(read.source, "policy.toml:3");
  EXPECT_EQ(read.reason, "why");
  EXPECT_EQ(read.alternative, "how");
}

TEST(CommandSettings, ComeBack) {
  for (const auto user : {sandbox::User::kAgent, sandbox::User::kRoot}) {
    const CommandSettings settings{.argv = {"sh", "", "-c", "\xff\n"}, .cwd = "/a b", .user = user, .caller = "uid 0"};
    const auto read = ReadCommandSettings(WriteCommandSettings(settings));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->argv, settings.argv);
    EXPECT_EQ(read->cwd, settings.cwd);
    EXPECT_EQ(read->user, user);
    EXPECT_EQ(read->caller, settings.caller);
  }
}

TEST(CommandSettings, HoldWhatAPolicySaid) {
  CommandSettings settings{.argv = {"ls"}, .cwd = "/", .caller = "uid 0"};
  EXPECT_FALSE(ReadCommandSettings(WriteCommandSettings(settings))->decision);
  settings.decision = SomeDecision();
  const auto read = ReadCommandSettings(WriteCommandSettings(settings));
  ASSERT_TRUE(read && read->decision);
  ExpectSame(*read->decision);
  EXPECT_FALSE(read->stop);
  settings.stop = guard::Stop{.at = policy::Time(std::chrono::milliseconds(1'790'000'000'123)), .note = SomeDecision()};
  const auto stopped = ReadCommandSettings(WriteCommandSettings(settings));
  ASSERT_TRUE(stopped && stopped->stop);
  EXPECT_EQ(stopped->stop->at, settings.stop->at);
  ExpectSame(stopped->stop->note);
}

TEST(CommandSettings, ThatAreDamagedAreNotRead) {
  ExpectDamaged(ReadCommandSettings("\x0a\x7f"));
  proto::CommandSettings message;
  message.set_user(2);
  ExpectDamaged(ReadCommandSettings(message.SerializeAsString()));
}

std::vector<sandbox::Outcome> EveryOutcome() {
  using Reason = sandbox::FailedToStart::Reason;
  std::vector<sandbox::Outcome> all = {sandbox::Exited{0},  sandbox::Exited{255},          sandbox::Signaled{SIGSEGV},
                                       sandbox::TimedOut{}, sandbox::OutOfMemory{},        sandbox::Cancelled{},
                                       sandbox::Denied{},   sandbox::NeedsApproval{"ap_x"}};
  for (const Reason reason : {Reason::kNotFound, Reason::kNotExecutable, Reason::kOther}) {
    all.emplace_back(sandbox::FailedToStart{.reason = reason,
                                            .errno_value = ENOENT,
                                            .step = "ex\xff"
                                                    "ec"});
  }
  return all;
}

void ExpectSame(const sandbox::Outcome& read, const sandbox::Outcome& written) {
  ASSERT_EQ(read.index(), written.index()) << sandbox::OutcomeName(written);
  if (const auto* exited = std::get_if<sandbox::Exited>(&written)) {
    EXPECT_EQ(std::get<sandbox::Exited>(read).code, exited->code);
  }
  if (const auto* signaled = std::get_if<sandbox::Signaled>(&written)) {
    EXPECT_EQ(std::get<sandbox::Signaled>(read).signal, signaled->signal);
  }
  if (const auto* failed = std::get_if<sandbox::FailedToStart>(&written)) {
    const auto& other = std::get<sandbox::FailedToStart>(read);
    EXPECT_EQ(other.reason, failed->reason);
    EXPECT_EQ(other.errno_value, failed->errno_value);
    EXPECT_EQ(other.step, failed->step);
  }
  if (const auto* asked = std::get_if<sandbox::NeedsApproval>(&written)) {
    EXPECT_EQ(std::get<sandbox::NeedsApproval>(read).id, asked->id);
  }
}

TEST(Result, OfEveryOutcomeComesBack) {
  for (const sandbox::Outcome& outcome : EveryOutcome()) {
    sandbox::CommandResult result;
    result.outcome = outcome;
    const auto read = ReadResult(WriteResult(result, {}));
    ASSERT_TRUE(read) << sandbox::OutcomeName(outcome);
    ExpectSame(read->result.outcome, outcome);
    EXPECT_FALSE(read->result.memory_peak_bytes);
    EXPECT_FALSE(read->result.files_changed);
    EXPECT_TRUE(read->hints.empty());
  }
}

TEST(Result, ComesBackWithAllThatWasMeasured) {
  sandbox::CommandResult result;
  result.duration = nanoseconds(5'000'000'001);
  result.cpu = nanoseconds(17);
  result.memory_peak_bytes = 0;
  result.decision = SomeDecision();
  const std::vector<hint::Hint> hints = {{"a", "b", "c"}, {"d", "\xff", ""}};
  const auto read = ReadResult(WriteResult(result, hints));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->result.duration, result.duration);
  EXPECT_EQ(read->result.cpu, result.cpu);
  ASSERT_TRUE(read->result.decision);
  ExpectSame(*read->result.decision);
  EXPECT_EQ(read->result.memory_peak_bytes, 0U) << "known to be none";
  ASSERT_EQ(read->hints.size(), 2U);
  EXPECT_EQ(read->hints[0].code, "a");
  EXPECT_EQ(read->hints[0].message, "b");
  EXPECT_EQ(read->hints[0].suggestion, "c");
  EXPECT_EQ(read->hints[1].message, "\xff");

  using Flag = bool sandbox::CommandResult::*;
  constexpr Flag kFlags[] = {&sandbox::CommandResult::killed_for_memory, &sandbox::CommandResult::hit_process_limit,
                             &sandbox::CommandResult::waits_for_input, &sandbox::CommandResult::disk_full};
  for (const Flag set : kFlags) {
    sandbox::CommandResult one;
    one.*set = true;
    const auto back = ReadResult(WriteResult(one, {}));
    ASSERT_TRUE(back);
    for (const Flag flag : kFlags) EXPECT_EQ(back->result.*flag, flag == set);
  }
}

TEST(Result, ComesBackWithItsChanges) {
  using plan::ChangeKind;
  using plan::EntryType;
  sandbox::CommandResult result;
  result.files_changed.emplace();
  const auto none = ReadResult(WriteResult(result, {}));
  ASSERT_TRUE(none && none->result.files_changed) << "no changes are not the same as not knowing";
  EXPECT_TRUE(none->result.files_changed->changes.empty());
  EXPECT_FALSE(none->result.files_changed->truncated);

  result.files_changed->truncated = true;
  for (const auto kind : {ChangeKind::kCreated, ChangeKind::kModified, ChangeKind::kDeleted, ChangeKind::kMetadata}) {
    for (const auto type : {EntryType::kFile, EntryType::kDirectory, EntryType::kSymlink, EntryType::kOther}) {
      result.files_changed->changes.push_back(
          {.path = "/\xff", .kind = kind, .type = type, .size_bytes = GiB(9).value});
    }
  }
  const auto read = ReadResult(WriteResult(result, {}));
  ASSERT_TRUE(read && read->result.files_changed);
  EXPECT_TRUE(read->result.files_changed->truncated);
  const auto& changes = read->result.files_changed->changes;
  ASSERT_EQ(changes.size(), 16U);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    EXPECT_EQ(changes[i].path, "/\xff");
    EXPECT_EQ(changes[i].kind, result.files_changed->changes[i].kind);
    EXPECT_EQ(changes[i].type, result.files_changed->changes[i].type);
    EXPECT_EQ(changes[i].size_bytes, GiB(9).value);
  }
}

TEST(Result, ThatIsDamagedIsNotRead) {
  ExpectDamaged(ReadResult(""));  // without an outcome
  ExpectDamaged(ReadResult("\xff"));
  proto::StepResult message;
  message.set_outcome("vanished");
  ExpectDamaged(ReadResult(message.SerializeAsString()));
  message.set_outcome("failed_to_start");
  message.set_failed_reason(3);
  ExpectDamaged(ReadResult(message.SerializeAsString()));
  message.set_failed_reason(2);
  EXPECT_TRUE(ReadResult(message.SerializeAsString()));
  message.set_has_changes(true);
  proto::Change& change = *message.add_changes();
  change.set_kind(4);
  ExpectDamaged(ReadResult(message.SerializeAsString()));
  change.set_kind(3);
  change.set_type(4);
  ExpectDamaged(ReadResult(message.SerializeAsString()));
  change.set_type(3);
  EXPECT_TRUE(ReadResult(message.SerializeAsString()));
}

state::SandboxRecord SomeSandbox() {
  state::SandboxRecord record{.id = SandboxId::Random()};
  record.name = "box";
  record.state = "paused";
  record.reason = "why";
  record.spec = WriteSettings(SomeSettings());
  record.labels = {{"k", "v"}};
  record.created_at = 1;
  record.changed_at = 2;
  record.expires_at = 3;
  record.idle_timeout = milliseconds(4);
  record.last_step = 5;
  record.on_end = "keep";
  return record;
}

TEST(InfoOf, ASandbox) {
  const state::SandboxRecord record = SomeSandbox();
  const std::optional<SandboxInfo> info = InfoOf(record);
  EXPECT_EQ(info->id, record.id);
  EXPECT_EQ(info->name, "box");
  EXPECT_EQ(info->state, sandbox::Lifecycle::kPaused);
  EXPECT_EQ(info->reason, "why");
  EXPECT_EQ(info->labels, record.labels);
  EXPECT_EQ(info->limits.pids, 77U);
  EXPECT_EQ(info->command_timeout, milliseconds(4321));
  EXPECT_EQ(info->storage, plan::Storage::kDirectory);
  EXPECT_EQ(info->image, SomeSettings().image);
  EXPECT_EQ(info->workspace, SomeSettings().workspace);
  EXPECT_EQ(info->workspace_mode, plan::WorkspaceMode::kReadOnly);
  EXPECT_EQ(info->env, SomeSettings().env);
  EXPECT_EQ(info->on_end, OnEnd::kKeep);
  EXPECT_EQ(info->idle_timeout, milliseconds(4));
  EXPECT_EQ(info->max_lifetime, milliseconds(99));
  EXPECT_EQ(info->created_at, 1);
  EXPECT_EQ(info->changed_at, 2);
  EXPECT_EQ(info->expires_at, 3);
  EXPECT_EQ(info->steps, 5U);
}

TEST(InfoOf, ASandboxOfADamagedRecord) {
  state::SandboxRecord record = SomeSandbox();
  record.state = "asleep";
  EXPECT_EQ(InfoOf(record).state, sandbox::Lifecycle::kFailed);
  EXPECT_NE(InfoOf(record).reason.find("damaged state"), std::string::npos);
  for (const char* spec : {"\xff", ""}) {
    record = SomeSandbox();
    record.spec = spec;
    const SandboxInfo info = InfoOf(record);
    EXPECT_EQ(info.state, sandbox::Lifecycle::kFailed);
    EXPECT_NE(info.reason.find("damaged description"), std::string::npos);
    EXPECT_EQ(info.name, "box") << "what can be read is";
    EXPECT_GT(info.limits.memory.value, 0U);
    for (const auto& [state, expected] :
         {std::pair("failed", sandbox::Lifecycle::kFailed), std::pair("deleted", sandbox::Lifecycle::kDeleted)}) {
      record.state = state;
      EXPECT_EQ(InfoOf(record).state, expected);
      EXPECT_EQ(InfoOf(record).reason, "why") << "it says already why it is so";
    }
  }
}

state::CommandRecord SomeCommand() {
  state::CommandRecord record{.id = "cm_a", .sandbox = SandboxId::Random(), .step = 3};
  record.state = state::CommandState::kEnded;
  record.spec = WriteCommandSettings({.argv = {"id", "-u"}, .cwd = "/", .user = sandbox::User::kRoot, .caller = "me"});
  record.started_at = 10;
  record.ended_at = 20;
  record.timeout = milliseconds(30);
  record.summary = WriteSummary(sandbox::Exited{7});
  record.stdout_bytes = 40;
  record.stderr_bytes = 50;
  return record;
}

TEST(InfoOf, ACommand) {
  const state::CommandRecord record = SomeCommand();
  const auto info = InfoOf(record);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->id, "cm_a");
  EXPECT_EQ(info->sandbox, record.sandbox);
  EXPECT_EQ(info->step, 3U);
  EXPECT_EQ(info->state, CommandState::kEnded);
  EXPECT_EQ(info->argv, (std::vector<std::string>{"id", "-u"}));
  EXPECT_EQ(info->cwd, "/");
  EXPECT_EQ(info->user, sandbox::User::kRoot);
  EXPECT_EQ(info->timeout, milliseconds(30));
  EXPECT_EQ(info->started_at, 10);
  EXPECT_EQ(info->ended_at, 20);
  EXPECT_EQ(info->stdout_bytes, 40U);
  EXPECT_EQ(info->stderr_bytes, 50U);
  EXPECT_EQ(info->outcome, "exited");
  EXPECT_EQ(info->exit_code, 7);
}

TEST(InfoOf, ACommandThatRuns) {
  for (const auto state : {state::CommandState::kStarting, state::CommandState::kRunning}) {
    state::CommandRecord record = SomeCommand();
    record.state = state;
    record.summary.clear();
    const auto info = InfoOf(record);
    ASSERT_TRUE(info);
    EXPECT_EQ(info->state, CommandState::kRunning);
    EXPECT_FALSE(info->outcome);
    EXPECT_FALSE(info->exit_code);
    EXPECT_FALSE(info->signal);
  }
}

// A list needs no result: the summary says as much.
TEST(InfoOf, ACommandOfEveryOutcomeByItsSummary) {
  for (const sandbox::Outcome& outcome : EveryOutcome()) {
    state::CommandRecord record = SomeCommand();
    record.summary = WriteSummary(outcome);
    const auto info = InfoOf(record);
    ASSERT_TRUE(info);
    EXPECT_EQ(info->outcome, sandbox::OutcomeName(outcome));
    const auto* exited = std::get_if<sandbox::Exited>(&outcome);
    EXPECT_EQ(info->exit_code, exited != nullptr ? std::optional(exited->code) : std::nullopt);
    const auto* signaled = std::get_if<sandbox::Signaled>(&outcome);
    EXPECT_EQ(info->signal, signaled != nullptr ? std::optional(signaled->signal) : std::nullopt);
  }
}

TEST(InfoOf, ACommandOfADamagedRecord) {
  state::CommandRecord record = SomeCommand();
  record.spec = "\xff";
  ExpectDamaged(InfoOf(record));
  for (const char* summary : {"", "\xff", "\x0a\x04gone"}) {
    record = SomeCommand();
    record.summary = summary;
    ExpectDamaged(InfoOf(record));
  }
}

TEST(OnEndName, IsStable) {
  EXPECT_EQ(OnEndName(OnEnd::kKeep), "keep");
  EXPECT_EQ(OnEndName(OnEnd::kDelete), "delete");
}

}  // namespace
}  // namespace caisson::service
