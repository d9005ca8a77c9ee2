#include "caisson/state/command_table.h"

#include <string>
#include <utility>

#include "caisson/base/utf8.h"
#include "caisson/state/page.h"

namespace caisson::state {
namespace {

constexpr const char* kColumns =
    "SELECT id, sandbox, step, state, started_at, ended_at, timeout_ms, stdout_bytes, stderr_bytes, handle, summary, "
    "spec, ";

std::string Select(const char* result, const char* rest) {
  return std::string(kColumns) + result + " FROM commands WHERE " + rest;
}

Result<CommandRecord> ReadRow(const Query& row) {
  std::string id;
  std::string sandbox;
  std::uint64_t step = 0;
  std::string state;
  row.Read(id, sandbox, step, state);
  auto parsed = SandboxId::Parse(sandbox);
  const auto known = ParseCommandState(state);
  if (!parsed || !known) return Fail(Error(Code::kInternal, "the database holds a broken command: " + Quoted(id)));
  CommandRecord record{.id = std::move(id), .sandbox = std::move(*parsed), .step = step, .state = *known};
  row.Read(record.id, sandbox, step, state, record.started_at, record.ended_at, record.timeout, record.stdout_bytes,
           record.stderr_bytes, record.handle, record.summary, record.spec, record.result);
  return record;
}

Result<std::vector<CommandRecord>> ReadAllRows(Query& query) {
  std::vector<CommandRecord> records;
  while (true) {
    CAISSON_TRY(const bool found, query.Next());
    if (!found) return records;
    CAISSON_TRY(CommandRecord record, ReadRow(query));
    records.push_back(std::move(record));
  }
}

}  // namespace

std::string_view CommandStateName(CommandState state) {
  switch (state) {
    case CommandState::kStarting:
      return "starting";
    case CommandState::kRunning:
      return "running";
    case CommandState::kEnded:
      return "ended";
  }
  return "";
}

std::optional<CommandState> ParseCommandState(std::string_view name) {
  for (const CommandState state : {CommandState::kStarting, CommandState::kRunning, CommandState::kEnded}) {
    if (name == CommandStateName(state)) return state;
  }
  return std::nullopt;
}

Result<CommandTable> CommandTable::Prepare(const Connection& connection) {
  CommandTable table;
  const std::pair<Statement*, std::string> statements[] = {
      {&table.insert_,
       "INSERT INTO commands (id, sandbox, step, state, started_at, ended_at, timeout_ms, stdout_bytes, stderr_bytes, "
       "handle, summary, spec, result) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"},
      {&table.get_, Select("result", "id = ?1")},
      {&table.list_, Select("NULL", "sandbox = ?1 AND step > ?2 ORDER BY step LIMIT ?3")},
      {&table.list_with_results_, Select("result", "sandbox = ?1 AND step > ?2 ORDER BY step LIMIT ?3")},
      {&table.not_ended_, Select("NULL", "state <> 'ended' ORDER BY sandbox, step")},
      {&table.count_not_ended_, "SELECT count(*) FROM commands WHERE sandbox = ?1 AND state <> 'ended'"},
      {&table.run_, "UPDATE commands SET state = 'running', handle = ?2 WHERE id = ?1 AND state = 'starting'"},
      {&table.end_,
       "UPDATE commands SET state = 'ended', ended_at = ?2, result = ?3, stdout_bytes = ?4, stderr_bytes = ?5, summary "
       "= ?6 "
       "WHERE id = ?1 AND state <> 'ended' RETURNING sandbox"},
      {&table.state_of_, "SELECT state FROM commands WHERE id = ?1"},
      {&table.forget_,
       "DELETE FROM commands WHERE number IN (SELECT number FROM commands WHERE ended_at IS NOT NULL AND "
       "(ended_at < ?1 OR (ended_at, number) <= (SELECT ended_at, number FROM commands WHERE ended_at IS NOT NULL "
       "ORDER BY ended_at DESC, number DESC LIMIT 1 OFFSET ?2)) ORDER BY ended_at, number LIMIT ?3)"},
      {&table.has_, "SELECT 1 FROM commands WHERE id = ?1"},
      {&table.add_spool_, "INSERT INTO spools (command, ended_at, bytes) VALUES (?1, ?2, ?3)"},
      {&table.spool_bytes_, "SELECT ifnull(sum(bytes), 0) FROM spools INDEXED BY spools_by_end"},
      {&table.oldest_spools_,
       "SELECT command, bytes FROM spools INDEXED BY spools_by_end ORDER BY ended_at, command LIMIT ?1"},
      {&table.forget_spool_, "DELETE FROM spools WHERE command = ?1"},
  };
  for (const auto& [statement, sql] : statements) {
    CAISSON_TRY(*statement, connection.Prepare(sql));
  }
  return table;
}

Status CommandTable::Insert(const CommandRecord& record) {
  const std::optional<Blob> result = record.result ? std::optional<Blob>(Blob{*record.result}) : std::nullopt;
  return Query(insert_, record.id, record.sandbox.text(), record.step, CommandStateName(record.state),
               record.started_at, record.ended_at, record.timeout, record.stdout_bytes, record.stderr_bytes,
               Blob{record.handle}, Blob{record.summary}, Blob{record.spec}, result)
      .Run();
}

Result<CommandRecord> CommandTable::Get(std::string_view id) {
  Query query(get_, id);
  CAISSON_TRY(const bool found, query.Next());
  if (!found) return Fail(Error(Code::kNotFound, "there is no command " + Quoted(id)));
  return ReadRow(query);
}

Result<std::vector<CommandRecord>> CommandTable::List(const SandboxId& sandbox, const CommandFilter& filter) {
  if (filter.limit < 1 || filter.limit > kMaxPage) {
    return Fail(Error(Code::kInvalidArgument, "a page holds 1 to " + std::to_string(kMaxPage) + " commands"));
  }
  Query query(filter.results == Results::kRead ? list_with_results_ : list_, sandbox.text(), filter.after_step,
              std::uint64_t{filter.limit});
  return ReadAllRows(query);
}

Result<std::vector<CommandRecord>> CommandTable::NotEnded() {
  Query query(not_ended_);
  return ReadAllRows(query);
}

Result<std::uint64_t> CommandTable::CountNotEnded(const SandboxId& sandbox) {
  Query query(count_not_ended_, sandbox.text());
  std::uint64_t count = 0;
  CAISSON_TRY(const bool found, query.Next());
  if (found) query.Read(count);
  return count;
}

Error CommandTable::NotIn(std::string_view id, std::string_view wanted) {
  Query query(state_of_, id);
  auto found = query.Next();
  if (!found) return std::move(found).error();
  if (!*found) return Error(Code::kNotFound, "there is no command " + Quoted(id));
  std::string actual;
  query.Read(actual);
  return Error(Code::kConflict, "command " + Quoted(id) + " is " + actual)
      .Because("this needs one that is " + std::string(wanted))
      .Detail("state", actual);
}

Status CommandTable::Run(std::string_view id, std::string_view handle) {
  Query query(run_, id, Blob{handle});
  CAISSON_CHECK_OK(query.Run());
  if (query.Changed() == 0) return Fail(NotIn(id, "starting"));
  return {};
}

Result<SandboxId> CommandTable::End(const CommandEnd& end) {
  Query query(end_, end.id, end.at, Blob{end.result}, end.stdout_bytes, end.stderr_bytes, Blob{end.summary});
  CAISSON_TRY(const bool found, query.Next());
  if (!found) return Fail(NotIn(end.id, "starting or running"));
  std::string sandbox;
  query.Read(sandbox);
  CAISSON_CHECK_OK(query.Run());
  if (end.spool_bytes > 0) CAISSON_CHECK_OK(Query(add_spool_, end.id, end.at, end.spool_bytes).Run());
  return SandboxId::Parse(sandbox);
}

Result<bool> CommandTable::Has(std::string_view id) {
  Query query(has_, id);
  return query.Next();
}

Result<std::uint64_t> CommandTable::SpoolBytes() {
  Query query(spool_bytes_);
  std::uint64_t bytes = 0;
  CAISSON_TRY(const bool found, query.Next());
  if (found) query.Read(bytes);
  return bytes;
}

Result<std::vector<SpoolRecord>> CommandTable::OldestSpools(std::uint32_t limit) {
  Query query(oldest_spools_, std::uint64_t{limit});
  std::vector<SpoolRecord> records;
  while (true) {
    CAISSON_TRY(const bool found, query.Next());
    if (!found) return records;
    SpoolRecord& record = records.emplace_back();
    query.Read(record.command, record.bytes);
  }
}

Status CommandTable::ForgetSpool(std::string_view id) { return Query(forget_spool_, id).Run(); }

Result<std::uint64_t> CommandTable::ForgetEnded(const Retention& retention) {
  Query query(forget_, retention.ended_before, retention.keep_newest, std::uint64_t{retention.at_most});
  CAISSON_CHECK_OK(query.Run());
  return query.Changed();
}

}  // namespace caisson::state
