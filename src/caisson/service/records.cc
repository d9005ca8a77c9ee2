#include "caisson/service/records.h"

#include "caisson/service/record.pb.h"

namespace caisson::service {
namespace {

Error Damaged(const char* what) {
  return Error(Code::kInternal, std::string("the database holds a damaged ") + what)
      .Remedy("delete the sandbox it belongs to");
}

void WriteDecision(const sandbox::DecisionNote& note, proto::Decision& message) {
  message.set_effect(note.effect);
  message.set_rule(note.rule);
  message.set_source(note.source);
  message.set_reason(note.reason);
  message.set_alternative(note.alternative);
}

sandbox::DecisionNote NoteOf(const proto::Decision& message) {
  return {.effect = message.effect(),
          .rule = message.rule(),
          .source = message.source(),
          .reason = message.reason(),
          .alternative = message.alternative()};
}

void WriteOutcome(const sandbox::Outcome& outcome, proto::StepResult& message) {
  message.set_outcome(std::string(sandbox::OutcomeName(outcome)));
  if (const auto* exited = std::get_if<sandbox::Exited>(&outcome)) message.set_value(exited->code);
  if (const auto* signaled = std::get_if<sandbox::Signaled>(&outcome)) message.set_value(signaled->signal);
  if (const auto* failed = std::get_if<sandbox::FailedToStart>(&outcome)) {
    message.set_value(failed->errno_value);
    message.set_failed_step(failed->step);
    message.set_failed_reason(static_cast<std::uint32_t>(failed->reason));
  }
  if (const auto* asked = std::get_if<sandbox::NeedsApproval>(&outcome)) message.set_approval(asked->id);
}

// The outcome of this name that says so.
std::optional<sandbox::Outcome> OutcomeOf(std::string_view name, int value, const sandbox::FailedToStart& failed,
                                          const std::string& approval) {
  const sandbox::Outcome all[] = {sandbox::Exited{value}, sandbox::Signaled{value},
                                  sandbox::TimedOut{},    sandbox::OutOfMemory{},
                                  sandbox::Cancelled{},   failed,
                                  sandbox::Denied{},      sandbox::NeedsApproval{approval}};
  for (const sandbox::Outcome& outcome : all) {
    if (sandbox::OutcomeName(outcome) == name) return outcome;
  }
  return std::nullopt;
}

std::optional<sandbox::Outcome> ReadOutcome(const proto::StepResult& message) {
  using Reason = sandbox::FailedToStart::Reason;
  if (message.failed_reason() > static_cast<std::uint32_t>(Reason::kOther)) return std::nullopt;
  return OutcomeOf(message.outcome(), message.value(),
                   {.reason = static_cast<Reason>(message.failed_reason()),
                    .errno_value = message.value(),
                    .step = message.failed_step()},
                   message.approval());
}

Status ReadSummary(std::string_view bytes, CommandInfo& info) {
  proto::CommandSummary message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      !OutcomeOf(message.outcome(), 0, {}, {})) {
    return Fail(Damaged("summary of a command"));
  }
  info.outcome = message.outcome();
  if (message.has_exit_code()) info.exit_code = message.exit_code();
  if (message.has_signal()) info.signal = message.signal();
  return {};
}

}  // namespace

std::string WriteSettings(const Settings& settings) {
  proto::SandboxSettings message;
  message.set_memory_bytes(settings.limits.memory.value);
  message.set_disk_bytes(settings.limits.disk.value);
  message.set_milli_cpus(settings.limits.cpus.value);
  message.set_pids(settings.limits.pids);
  message.set_command_timeout_ms(settings.command_timeout.count());
  message.set_storage(static_cast<std::uint32_t>(settings.storage));
  message.set_image(settings.image);
  message.set_workspace(settings.workspace);
  message.set_workspace_mode(static_cast<std::uint32_t>(settings.workspace_mode));
  for (const auto& [name, value] : settings.env) {
    proto::Variable& variable = *message.add_env();
    variable.set_name(name);
    variable.set_value(value);
  }
  if (settings.max_lifetime) message.set_max_lifetime_ms(settings.max_lifetime->count());
  message.set_execution(static_cast<std::uint32_t>(settings.execution));
  message.set_has_sources(settings.sources.has_value());
  for (const auto& [name, source] : settings.sources.value_or(ValueSources())) {
    proto::Variable& variable = *message.add_sources();
    variable.set_name(name);
    variable.set_value(source);
  }
  return message.SerializeAsString();
}

Result<Settings> ReadSettings(std::string_view bytes) {
  proto::SandboxSettings message;
  // Every sandbox has limits, and so bytes that say which.
  if (bytes.empty() || !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      message.storage() > static_cast<std::uint32_t>(plan::Storage::kBtrfs) ||
      message.workspace_mode() > static_cast<std::uint32_t>(plan::WorkspaceMode::kReadWrite) ||
      message.execution() > static_cast<std::uint32_t>(plan::Execution::kProgramFolders)) {
    return Fail(Damaged("description of a sandbox"));
  }
  Settings settings;
  settings.limits.memory = {message.memory_bytes()};
  settings.limits.disk = {message.disk_bytes()};
  settings.limits.cpus = {message.milli_cpus()};
  settings.limits.pids = message.pids();
  settings.command_timeout = std::chrono::milliseconds(message.command_timeout_ms());
  settings.storage = static_cast<plan::Storage>(message.storage());
  settings.image = message.image();
  settings.workspace = message.workspace();
  settings.workspace_mode = static_cast<plan::WorkspaceMode>(message.workspace_mode());
  for (const proto::Variable& variable : message.env()) settings.env.emplace_back(variable.name(), variable.value());
  if (message.max_lifetime_ms() != 0) settings.max_lifetime = std::chrono::milliseconds(message.max_lifetime_ms());
  settings.execution = static_cast<plan::Execution>(message.execution());
  if (message.has_sources()) settings.sources.emplace();
  for (const proto::Variable& variable : message.sources()) (*settings.sources)[variable.name()] = variable.value();
  return settings;
}

std::string WriteCommandSettings(const CommandSettings& settings) {
  proto::CommandSettings message;
  for (const std::string& argument : settings.argv) message.add_argv(argument);
  message.set_cwd(settings.cwd);
  message.set_user(settings.user == sandbox::User::kRoot ? 1 : 0);
  message.set_caller(settings.caller);
  if (settings.decision) WriteDecision(*settings.decision, *message.mutable_decision());
  if (settings.stop) {
    message.mutable_stop()->set_at_ms(settings.stop->at.time_since_epoch().count());
    WriteDecision(settings.stop->note, *message.mutable_stop()->mutable_decision());
  }
  return message.SerializeAsString();
}

Result<CommandSettings> ReadCommandSettings(std::string_view bytes) {
  proto::CommandSettings message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || message.user() > 1) {
    return Fail(Damaged("description of a command"));
  }
  CommandSettings settings{.argv = {message.argv().begin(), message.argv().end()},
                           .cwd = message.cwd(),
                           .user = message.user() == 1 ? sandbox::User::kRoot : sandbox::User::kAgent,
                           .caller = message.caller()};
  if (message.has_decision()) settings.decision = NoteOf(message.decision());
  if (message.has_stop()) {
    settings.stop = guard::Stop{.at = policy::Time(std::chrono::milliseconds(message.stop().at_ms())),
                                .note = NoteOf(message.stop().decision())};
  }
  return settings;
}

std::string WriteResult(const sandbox::CommandResult& result, const std::vector<hint::Hint>& hints) {
  proto::StepResult message;
  WriteOutcome(result.outcome, message);
  if (result.decision) WriteDecision(*result.decision, *message.mutable_decision());
  message.set_duration_ns(result.duration.count());
  message.set_cpu_ns(result.cpu.count());
  message.set_has_memory_peak(result.memory_peak_bytes.has_value());
  message.set_memory_peak_bytes(result.memory_peak_bytes.value_or(0));
  message.set_killed_for_memory(result.killed_for_memory);
  message.set_hit_process_limit(result.hit_process_limit);
  message.set_waits_for_input(result.waits_for_input);
  message.set_disk_full(result.disk_full);
  message.set_has_changes(result.files_changed.has_value());
  if (result.files_changed) {
    message.set_changes_truncated(result.files_changed->truncated);
    for (const plan::Change& change : result.files_changed->changes) {
      proto::Change& entry = *message.add_changes();
      entry.set_path(change.path);
      entry.set_kind(static_cast<std::uint32_t>(change.kind));
      entry.set_type(static_cast<std::uint32_t>(change.type));
      entry.set_size_bytes(change.size_bytes);
    }
  }
  for (const hint::Hint& hint : hints) {
    proto::Hint& entry = *message.add_hints();
    entry.set_code(hint.code);
    entry.set_message(hint.message);
    entry.set_suggestion(hint.suggestion);
  }
  return message.SerializeAsString();
}

Result<StoredResult> ReadResult(std::string_view bytes) {
  proto::StepResult message;
  StoredResult stored;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return Fail(Damaged("result"));
  const auto outcome = ReadOutcome(message);
  if (!outcome) return Fail(Damaged("result"));
  sandbox::CommandResult& result = stored.result;
  result.outcome = *outcome;
  if (message.has_decision()) result.decision = NoteOf(message.decision());
  result.duration = std::chrono::nanoseconds(message.duration_ns());
  result.cpu = std::chrono::nanoseconds(message.cpu_ns());
  if (message.has_memory_peak()) result.memory_peak_bytes = message.memory_peak_bytes();
  result.killed_for_memory = message.killed_for_memory();
  result.hit_process_limit = message.hit_process_limit();
  result.waits_for_input = message.waits_for_input();
  result.disk_full = message.disk_full();
  if (message.has_changes()) {
    result.files_changed.emplace();
    result.files_changed->truncated = message.changes_truncated();
    for (const proto::Change& entry : message.changes()) {
      if (entry.kind() > static_cast<std::uint32_t>(plan::ChangeKind::kMetadata) ||
          entry.type() > static_cast<std::uint32_t>(plan::EntryType::kOther)) {
        return Fail(Damaged("result"));
      }
      result.files_changed->changes.push_back({.path = entry.path(),
                                               .kind = static_cast<plan::ChangeKind>(entry.kind()),
                                               .type = static_cast<plan::EntryType>(entry.type()),
                                               .size_bytes = entry.size_bytes()});
    }
  }
  for (const proto::Hint& entry : message.hints()) {
    stored.hints.push_back({entry.code(), entry.message(), entry.suggestion()});
  }
  return stored;
}

std::string WriteSummary(const sandbox::Outcome& outcome) {
  proto::CommandSummary message;
  message.set_outcome(std::string(sandbox::OutcomeName(outcome)));
  if (const auto* exited = std::get_if<sandbox::Exited>(&outcome)) message.set_exit_code(exited->code);
  if (const auto* signaled = std::get_if<sandbox::Signaled>(&outcome)) message.set_signal(signaled->signal);
  return message.SerializeAsString();
}

std::string_view OnEndName(OnEnd on_end) { return on_end == OnEnd::kKeep ? "keep" : "delete"; }

OnEnd OnEndOf(const state::SandboxRecord& record) {
  return record.on_end == OnEndName(OnEnd::kKeep) ? OnEnd::kKeep : OnEnd::kDelete;
}

SandboxInfo InfoOf(const state::SandboxRecord& record) {
  auto read = ReadSettings(record.spec);
  const auto known = sandbox::ParseLifecycle(record.state);
  sandbox::Lifecycle lifecycle = known.value_or(sandbox::Lifecycle::kFailed);
  std::string reason = record.reason;
  if (!known) reason = Damaged("state of a sandbox").message();
  if (!read && lifecycle != sandbox::Lifecycle::kFailed && lifecycle != sandbox::Lifecycle::kDeleted) {
    lifecycle = sandbox::Lifecycle::kFailed;
    reason = read.error().message();
  }
  Settings settings = read ? *std::move(read) : Settings();
  return SandboxInfo{.id = record.id,
                     .name = record.name,
                     .state = lifecycle,
                     .reason = std::move(reason),
                     .labels = record.labels,
                     .limits = settings.limits,
                     .command_timeout = settings.command_timeout,
                     .storage = settings.storage,
                     .image = std::move(settings.image),
                     .workspace = std::move(settings.workspace),
                     .workspace_mode = settings.workspace_mode,
                     .env = std::move(settings.env),
                     .on_end = OnEndOf(record),
                     .idle_timeout = record.idle_timeout,
                     .max_lifetime = settings.max_lifetime,
                     .sources = std::move(settings.sources),
                     .policy = record.policy.value_or(state::PolicyName{}),
                     .created_at = record.created_at,
                     .changed_at = record.changed_at,
                     .expires_at = record.expires_at,
                     .steps = record.last_step};
}

Result<CommandInfo> InfoOf(const state::CommandRecord& record) {
  CAISSON_TRY(CommandSettings settings, ReadCommandSettings(record.spec));
  CommandInfo info{.id = record.id,
                   .sandbox = record.sandbox,
                   .step = record.step,
                   .state = record.state == state::CommandState::kEnded ? CommandState::kEnded : CommandState::kRunning,
                   .argv = std::move(settings.argv),
                   .cwd = std::move(settings.cwd),
                   .user = settings.user,
                   .timeout = record.timeout,
                   .started_at = record.started_at,
                   .ended_at = record.ended_at,
                   .stdout_bytes = record.stdout_bytes,
                   .stderr_bytes = record.stderr_bytes,
                   .outcome = {},
                   .exit_code = {},
                   .signal = {}};
  if (record.state == state::CommandState::kEnded) CAISSON_CHECK_OK(ReadSummary(record.summary, info));
  return info;
}

}  // namespace caisson::service
