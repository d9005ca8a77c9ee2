#include "caisson/state/database.h"

#include <utility>

#include "caisson/state/migration.h"

namespace caisson::state {

Database::Database(std::unique_ptr<Connection> connection, SandboxTable sandboxes, CommandTable commands,
                   EventTable events, IdempotencyTable keys, PolicyTable policies)
    : connection_(std::move(connection)),
      sandboxes_(std::move(sandboxes)),
      commands_(std::move(commands)),
      events_(std::move(events)),
      keys_(std::move(keys)),
      policies_(std::move(policies)) {}

Result<std::unique_ptr<Database>> Database::Open(const os::Fd& folder, const DatabaseOptions& options) {
  CAISSON_TRY(auto connection, Connection::Open(folder, options.connection));
  CAISSON_TRY(const std::size_t version, VersionOf(*connection, AllMigrations()));
  if (version > 0) {
    // The tables that everything else hangs on.
    CAISSON_CHECK_OK(connection->Check({"sandboxes", "sandbox_specs", "sandbox_labels"}));
  }
  CAISSON_CHECK_OK(connection->Adopt());
  CAISSON_CHECK_OK(Migrate(*connection, AllMigrations()));
  CAISSON_TRY(auto sandboxes, SandboxTable::Prepare(*connection));
  CAISSON_TRY(auto commands, CommandTable::Prepare(*connection));
  CAISSON_TRY(auto events, EventTable::Prepare(*connection, options.keep_events));
  CAISSON_TRY(auto keys, IdempotencyTable::Prepare(*connection));
  CAISSON_TRY(auto policies, PolicyTable::Prepare(*connection));
  return std::unique_ptr<Database>(new Database(std::move(connection), std::move(sandboxes), std::move(commands),
                                                std::move(events), std::move(keys), std::move(policies)));
}

template <typename Work>
auto Database::Write(Work work) -> decltype(work()) {
  const std::lock_guard lock(mutex_);
  CAISSON_TRY(Transaction transaction, Transaction::Begin(*connection_));
  auto result = work();
  if (result) CAISSON_CHECK_OK(transaction.Commit());
  return result;
}

Result<std::uint64_t> Database::InsertSandbox(const SandboxRecord& record, const std::optional<IdempotencyRecord>& key,
                                              const EventRecord& event, const std::optional<PolicyRecord>& policy) {
  return Write([&]() -> Result<std::uint64_t> {
    if (key) CAISSON_CHECK_OK(keys_.Insert(*key));
    CAISSON_CHECK_OK(sandboxes_.Insert(record));
    if (policy) CAISSON_CHECK_OK(policies_.Set(record.id, *policy));
    return events_.Append(event);
  });
}

Result<SandboxRecord> Database::GetSandbox(const SandboxId& id) {
  const std::lock_guard lock(mutex_);
  return sandboxes_.Get(id);
}

Result<std::optional<SandboxRecord>> Database::FindSandbox(std::string_view name) {
  const std::lock_guard lock(mutex_);
  return sandboxes_.FindByName(name);
}

Result<std::vector<SandboxId>> Database::FindSandboxIds(std::string_view prefix, std::uint32_t limit) {
  const std::lock_guard lock(mutex_);
  return sandboxes_.FindByPrefix(prefix, limit);
}

Result<SandboxPage> Database::ListSandboxes(const SandboxFilter& filter) {
  const std::lock_guard lock(mutex_);
  return sandboxes_.List(filter);
}

Status Database::UpdateSandbox(const SandboxId& id, const SandboxUpdate& update) {
  return Write([&] { return sandboxes_.Update(id, update); });
}

Result<std::uint64_t> Database::ChangeState(const StateChange& change, const EventRecord& event) {
  return Write([&]() -> Result<std::uint64_t> {
    CAISSON_CHECK_OK(sandboxes_.ChangeState(change));
    // It was never made, so its request may be made again.
    if (change.from == "pending" && change.to == "deleted") CAISSON_CHECK_OK(keys_.ForgetSandbox(change.id));
    return events_.Append(event);
  });
}

Result<std::map<std::string, std::uint64_t>> Database::CountSandboxes() {
  const std::lock_guard lock(mutex_);
  return sandboxes_.CountByState();
}

Result<std::uint64_t> Database::ForgetDeletedSandboxes(const Retention& retention) {
  return Write([&] { return sandboxes_.ForgetDeleted(retention); });
}

Result<std::uint64_t> Database::SetPolicy(const SandboxId& id, const PolicyRecord& policy, const EventRecord& event) {
  return Write([&]() -> Result<std::uint64_t> {
    CAISSON_CHECK_OK(policies_.Set(id, policy));
    return events_.Append(event);
  });
}

Result<std::uint64_t> Database::GivePolicyToAllWithout(const PolicyRecord& policy) {
  return Write([&] { return policies_.GiveToAllWithout(policy); });
}

Result<std::optional<PolicyRecord>> Database::GetPolicy(const SandboxId& id) {
  const std::lock_guard lock(mutex_);
  return policies_.Get(id);
}

Result<std::uint64_t> Database::RuleUses(const SandboxId& id, std::string_view digest, std::string_view rule) {
  const std::lock_guard lock(mutex_);
  return policies_.Used(id, digest, rule);
}

Result<bool> Database::TakeRuleUses(const SandboxId& id, std::string_view digest, const std::vector<UseClaim>& claims) {
  const std::lock_guard lock(mutex_);
  CAISSON_TRY(Transaction transaction, Transaction::Begin(*connection_));
  CAISSON_TRY(const bool taken, policies_.Take(id, digest, claims));
  if (taken) CAISSON_CHECK_OK(transaction.Commit());
  return taken;
}

Status Database::ShortenLog() {
  const std::lock_guard lock(mutex_);
  return connection_->ShortenLog();
}

Result<Database::Step> Database::TakeStep(const SandboxId& id, std::string_view sandbox_state,
                                          const EventRecord& event) {
  return Write([&]() -> Result<Step> {
    Step step;
    CAISSON_TRY(step.number, sandboxes_.TakeStep(id, sandbox_state, event.time));
    CAISSON_TRY(step.event, events_.Append(event));
    return step;
  });
}

Result<std::uint64_t> Database::InsertCommand(const CommandRecord& record, std::string_view sandbox_state) {
  return Write([&]() -> Result<std::uint64_t> {
    CommandRecord numbered = record;
    CAISSON_TRY(numbered.step, sandboxes_.TakeStep(record.sandbox, sandbox_state, record.started_at));
    CAISSON_CHECK_OK(commands_.Insert(numbered));
    return numbered.step;
  });
}

Status Database::SetCommandRunning(std::string_view id, std::string_view handle) {
  return Write([&] { return commands_.Run(id, handle); });
}

Result<std::uint64_t> Database::EndCommand(const CommandEnd& end, const EventRecord& event) {
  return Write([&]() -> Result<std::uint64_t> {
    CAISSON_TRY(const SandboxId sandbox, commands_.End(end));
    CAISSON_CHECK_OK(sandboxes_.Touch(sandbox, end.at));
    return events_.Append(event);
  });
}

Result<CommandRecord> Database::GetCommand(std::string_view id) {
  const std::lock_guard lock(mutex_);
  return commands_.Get(id);
}

Result<std::vector<CommandRecord>> Database::ListCommands(const SandboxId& sandbox, const CommandFilter& filter) {
  const std::lock_guard lock(mutex_);
  return commands_.List(sandbox, filter);
}

Result<std::vector<CommandRecord>> Database::CommandsNotEnded() {
  const std::lock_guard lock(mutex_);
  return commands_.NotEnded();
}

Result<std::uint64_t> Database::CountCommandsNotEnded(const SandboxId& sandbox) {
  const std::lock_guard lock(mutex_);
  return commands_.CountNotEnded(sandbox);
}

Result<bool> Database::HasCommand(std::string_view id) {
  const std::lock_guard lock(mutex_);
  return commands_.Has(id);
}

Result<std::uint64_t> Database::SpoolBytes() {
  const std::lock_guard lock(mutex_);
  return commands_.SpoolBytes();
}

Result<std::vector<SpoolRecord>> Database::OldestSpools(std::uint32_t limit) {
  const std::lock_guard lock(mutex_);
  return commands_.OldestSpools(limit);
}

Status Database::ForgetSpool(std::string_view command) {
  return Write([&] { return commands_.ForgetSpool(command); });
}

Result<std::uint64_t> Database::ForgetEndedCommands(const Retention& retention) {
  return Write([&] { return commands_.ForgetEnded(retention); });
}

Result<std::uint64_t> Database::AppendEvent(const EventRecord& event) {
  return Write([&] { return events_.Append(event); });
}

Result<std::vector<EventRecord>> Database::EventsAfter(std::uint64_t after, std::uint32_t limit) {
  const std::lock_guard lock(mutex_);
  return events_.After(after, limit);
}

Result<std::uint64_t> Database::NewestEvent() {
  const std::lock_guard lock(mutex_);
  return events_.Newest();
}

Result<std::optional<IdempotencyRecord>> Database::FindIdempotencyKey(std::string_view caller, std::string_view key) {
  const std::lock_guard lock(mutex_);
  return keys_.Find(caller, key);
}

Result<std::uint64_t> Database::ForgetIdempotencyKeys(UnixMs created_before) {
  return Write([&] { return keys_.ForgetOlderThan(created_before); });
}

}  // namespace caisson::state
