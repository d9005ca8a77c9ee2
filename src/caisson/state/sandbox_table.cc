#include "caisson/state/sandbox_table.h"

#include <utility>

#include "caisson/base/utf8.h"
#include "caisson/state/database_file.h"
#include "caisson/state/sandbox_cursor.h"

namespace caisson::state {
namespace {

constexpr const char* kColumns =
    "SELECT id, name, state, reason, (SELECT spec FROM sandbox_specs WHERE sandbox = id), created_at, changed_at, "
    "deadline_at, expires_at, idle_timeout_ms, "
    "used_lifetime_ms, last_active_at, last_step, launcher, on_end, running_since_ms, "
    "(SELECT name FROM sandbox_policies WHERE sandbox = id), "
    "(SELECT digest FROM sandbox_policies WHERE sandbox = id) FROM sandboxes ";

// The place of every label of the longest filter: an unused one is NULL. One statement serves every filter.
std::string ListStatement(const char* which_states) {
  std::string sql = std::string(kColumns) + "WHERE " + which_states + " AND (created_at, id) > (?2, ?3)";
  for (std::uint32_t label = 0; label < kMaxFilterLabels; ++label) {
    const std::string key = "?" + std::to_string(5 + 2 * label);
    const std::string value = "?" + std::to_string(6 + 2 * label);
    sql += " AND (" + key + " IS NULL OR EXISTS (SELECT 1 FROM sandbox_labels WHERE sandbox = id AND key = " + key +
           " AND value = " + value + "))";
  }
  return sql + " ORDER BY created_at, id LIMIT ?4";
}

std::optional<Blob> BlobOf(const std::optional<std::string>& bytes) {
  if (!bytes) return std::nullopt;
  return Blob{*bytes};
}

std::int64_t Flag(const auto& optional) { return optional.has_value() ? 1 : 0; }

Error NoSandbox(const SandboxId& id) { return Error(Code::kNotFound, "there is no sandbox " + id.text()); }

Status CheckFilter(const SandboxFilter& filter) {
  if (filter.limit < 1 || filter.limit > kMaxPage) {
    return Fail(Error(Code::kInvalidArgument, "a page holds 1 to " + std::to_string(kMaxPage) + " sandboxes"));
  }
  if (filter.labels.size() > kMaxFilterLabels) {
    return Fail(Error(Code::kInvalidArgument, "a list takes at most " + std::to_string(kMaxFilterLabels) + " labels"));
  }
  return {};
}

}  // namespace

Result<SandboxTable> SandboxTable::Prepare(const Connection& connection) {
  SandboxTable table;
  const std::pair<Statement*, std::string> statements[] = {
      {&table.insert_,
       "INSERT INTO sandboxes (id, name, state, reason, created_at, changed_at, deadline_at, expires_at, "
       "idle_timeout_ms, used_lifetime_ms, last_active_at, last_step, launcher, on_end, running_since_ms) "
       "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)"},
      {&table.insert_spec_, "INSERT INTO sandbox_specs (sandbox, spec) VALUES (?1, ?2)"},
      {&table.insert_label_, "INSERT INTO sandbox_labels (sandbox, key, value) VALUES (?1, ?2, ?3)"},
      {&table.delete_labels_, "DELETE FROM sandbox_labels WHERE sandbox = ?1"},
      {&table.get_, std::string(kColumns) + "WHERE id = ?1"},
      {&table.get_labels_, "SELECT key, value FROM sandbox_labels WHERE sandbox = ?1"},
      {&table.by_name_, std::string(kColumns) + "WHERE name = ?1 AND state <> 'deleted'"},
      {&table.by_prefix_,
       "SELECT id FROM sandboxes WHERE id >= ?1 AND substr(id, 1, length(?1)) = ?1 AND id < ?2 "
       "ORDER BY id LIMIT ?3"},
      {&table.list_, ListStatement("?1 IS NULL AND state <> 'deleted'")},
      {&table.list_state_, ListStatement("state = ?1")},
      {&table.update_,
       "UPDATE sandboxes SET launcher = ifnull(?2, launcher), expires_at = iif(?3, ?4, expires_at), "
       "used_lifetime_ms = ifnull(?5, used_lifetime_ms), last_active_at = ifnull(?6, last_active_at), "
       "running_since_ms = iif(?7, ?8, running_since_ms) WHERE id = ?1"},
      {&table.change_state_,
       "UPDATE sandboxes SET state = ?3, reason = ?4, changed_at = ?5, deadline_at = ?6 WHERE id = ?1 AND state = ?2"},
      {&table.take_step_,
       "UPDATE sandboxes SET last_step = last_step + 1, last_active_at = max(last_active_at, ?3) "
       "WHERE id = ?1 AND state = ?2 RETURNING last_step"},
      {&table.touch_, "UPDATE sandboxes SET last_active_at = max(last_active_at, ?2) WHERE id = ?1"},
      {&table.state_of_, "SELECT state FROM sandboxes WHERE id = ?1"},
      {&table.count_, "SELECT state, count(*) FROM sandboxes GROUP BY state"},
      {&table.forget_,
       "DELETE FROM sandboxes WHERE id IN (SELECT id FROM sandboxes INDEXED BY sandboxes_deleted WHERE state = "
       "'deleted' AND (changed_at < ?1 OR "
       "(changed_at, rowid) <= (SELECT changed_at, rowid FROM sandboxes INDEXED BY sandboxes_deleted WHERE state = "
       "'deleted' "
       "ORDER BY changed_at DESC, rowid DESC LIMIT 1 OFFSET ?2)) ORDER BY changed_at, rowid LIMIT ?3)"},
  };
  for (const auto& [statement, sql] : statements) {
    CAISSON_TRY(*statement, connection.Prepare(sql));
  }
  return table;
}

Status SandboxTable::Insert(const SandboxRecord& record) {
  if (record.name) {
    CAISSON_TRY(const std::optional<SandboxRecord> other, FindByName(*record.name));
    if (other) {
      return Fail(Error(Code::kAlreadyExists, "there is a sandbox of the name " + Quoted(*record.name))
                      .Because("sandbox " + other->id.text() + " has it")
                      .Remedy("choose another name, or delete that sandbox first")
                      .Detail("sandbox", other->id.text()));
    }
  }
  {
    Query insert(insert_, record.id.text(), record.name, record.state, record.reason, record.created_at,
                 record.changed_at, record.deadline_at, record.expires_at, record.idle_timeout, record.used_lifetime,
                 record.last_active_at, record.last_step, Blob{record.launcher}, record.on_end, record.running_since);
    CAISSON_CHECK_OK(insert.Run());
  }
  CAISSON_CHECK_OK(Query(insert_spec_, record.id.text(), Blob{record.spec}).Run());
  return WriteLabels(record.id, record.labels);
}

Status SandboxTable::WriteLabels(const SandboxId& id, const std::map<std::string, std::string>& labels) {
  for (const auto& [key, value] : labels) {
    Query insert(insert_label_, id.text(), key, value);
    CAISSON_CHECK_OK(insert.Run());
  }
  return {};
}

Result<SandboxRecord> SandboxTable::ReadRow(const Query& row) {
  std::string id;
  row.Read(id);
  auto parsed = SandboxId::Parse(id);
  if (!parsed) return Fail(Error(Code::kInternal, "the database holds a sandbox that has no id: " + Quoted(id)));
  SandboxRecord record{.id = std::move(*parsed)};
  std::optional<std::string> policy;
  std::optional<std::string> digest;
  row.Read(id, record.name, record.state, record.reason, record.spec, record.created_at, record.changed_at,
           record.deadline_at, record.expires_at, record.idle_timeout, record.used_lifetime, record.last_active_at,
           record.last_step, record.launcher, record.on_end, record.running_since, policy, digest);
  if (policy && digest) record.policy = PolicyName{*std::move(policy), *std::move(digest)};
  Query labels(get_labels_, id);
  while (true) {
    CAISSON_TRY(const bool found, labels.Next());
    if (!found) return record;
    std::string key;
    std::string value;
    labels.Read(key, value);
    record.labels.emplace(std::move(key), std::move(value));
  }
}

Result<SandboxRecord> SandboxTable::Get(const SandboxId& id) {
  Query query(get_, id.text());
  CAISSON_TRY(const bool found, query.Next());
  if (!found) return Fail(NoSandbox(id));
  return ReadRow(query);
}

Result<std::optional<SandboxRecord>> SandboxTable::FindByName(std::string_view name) {
  Query query(by_name_, name);
  CAISSON_TRY(const bool found, query.Next());
  if (!found) return std::nullopt;
  return ReadRow(query);
}

Result<std::vector<SandboxId>> SandboxTable::FindByPrefix(std::string_view prefix, std::uint32_t limit) {
  std::vector<SandboxId> ids;
  // Nothing of an id is above '~', so that this is the end of all that begins so.
  Query query(by_prefix_, prefix, std::string(prefix) + "~", std::uint64_t{limit});
  while (true) {
    CAISSON_TRY(const bool found, query.Next());
    if (!found) return ids;
    std::string text;
    query.Read(text);
    CAISSON_TRY(SandboxId id, SandboxId::Parse(text));
    ids.push_back(std::move(id));
  }
}

Result<SandboxPage> SandboxTable::List(const SandboxFilter& filter) {
  CAISSON_CHECK_OK(CheckFilter(filter));
  SandboxCursor after{INT64_MIN, ""};
  if (filter.cursor) {
    CAISSON_TRY(after, SandboxCursor::Parse(*filter.cursor));
  }
  // One more than asked for says whether there is a next page.
  Query query(filter.state ? list_state_ : list_, filter.state, after.created_at, after.id,
              std::uint64_t{filter.limit} + 1);
  for (const auto& [key, value] : filter.labels) {
    query.Also(key);
    query.Also(value);
  }
  SandboxPage page;
  while (true) {
    CAISSON_TRY(const bool found, query.Next());
    if (!found) return page;
    if (page.sandboxes.size() == filter.limit) {
      const SandboxRecord& last = page.sandboxes.back();
      page.next_cursor = SandboxCursor{last.created_at, last.id.text()}.Text();
      return page;
    }
    CAISSON_TRY(SandboxRecord record, ReadRow(query));
    page.sandboxes.push_back(std::move(record));
  }
}

Status SandboxTable::Update(const SandboxId& id, const SandboxUpdate& update) {
  {
    Query query(update_, id.text(), BlobOf(update.launcher), Flag(update.expires_at),
                update.expires_at.value_or(std::nullopt), update.used_lifetime, update.last_active_at,
                Flag(update.running_since), update.running_since.value_or(std::nullopt));
    CAISSON_CHECK_OK(query.Run());
    if (query.Changed() == 0) return Fail(NoSandbox(id));
  }
  if (!update.labels) return {};
  {
    Query query(delete_labels_, id.text());
    CAISSON_CHECK_OK(query.Run());
  }
  return WriteLabels(id, *update.labels);
}

Error SandboxTable::NotIn(const SandboxId& id, std::string_view state) {
  Query query(state_of_, id.text());
  auto found = query.Next();
  if (!found) return std::move(found).error();
  if (!*found) return NoSandbox(id);
  std::string actual;
  query.Read(actual);
  return Error(Code::kConflict, "sandbox " + id.text() + " is " + actual)
      .Because("this needs one that is " + std::string(state))
      .Detail("state", actual);
}

Status SandboxTable::ChangeState(const StateChange& change) {
  {
    Query query(change_state_, change.id.text(), change.from, change.to, change.reason, change.at, change.deadline_at);
    CAISSON_CHECK_OK(query.Run());
    if (query.Changed() == 0) return Fail(NotIn(change.id, change.from));
  }
  return Update(change.id, change.also);
}

Result<std::uint64_t> SandboxTable::TakeStep(const SandboxId& id, std::string_view state, UnixMs at) {
  Query query(take_step_, id.text(), state, at);
  CAISSON_TRY(const bool found, query.Next());
  if (!found) return Fail(NotIn(id, state));
  std::uint64_t step = 0;
  query.Read(step);
  CAISSON_CHECK_OK(query.Run());
  return step;
}

Status SandboxTable::Touch(const SandboxId& id, UnixMs at) { return Query(touch_, id.text(), at).Run(); }

Result<std::map<std::string, std::uint64_t>> SandboxTable::CountByState() {
  std::map<std::string, std::uint64_t> counts;
  Query query(count_);
  while (true) {
    CAISSON_TRY(const bool found, query.Next());
    if (!found) return counts;
    std::string state;
    std::uint64_t count = 0;
    query.Read(state, count);
    counts.emplace(std::move(state), count);
  }
}

Result<std::uint64_t> SandboxTable::ForgetDeleted(const Retention& retention) {
  Query query(forget_, retention.ended_before, retention.keep_newest, std::uint64_t{retention.at_most});
  CAISSON_CHECK_OK(query.Run());
  return query.Changed();
}

}  // namespace caisson::state
