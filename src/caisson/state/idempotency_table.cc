#include "caisson/state/idempotency_table.h"

#include <string>
#include <utility>

#include "caisson/base/utf8.h"

namespace caisson::state {

Result<IdempotencyTable> IdempotencyTable::Prepare(const Connection& connection) {
  IdempotencyTable table;
  const std::pair<Statement*, const char*> statements[] = {
      {&table.insert_,
       "INSERT INTO idempotency_keys (caller, key, request_sha256, sandbox, created_at) VALUES (?1, ?2, ?3, ?4, ?5)"},
      {&table.find_,
       "SELECT sandbox, caller, key, request_sha256, created_at FROM idempotency_keys WHERE caller = ?1 AND key = ?2"},
      {&table.forget_sandbox_, "DELETE FROM idempotency_keys WHERE sandbox = ?1"},
      {&table.forget_, "DELETE FROM idempotency_keys WHERE created_at < ?1"},
  };
  for (const auto& [statement, sql] : statements) {
    CAISSON_TRY(*statement, connection.Prepare(sql));
  }
  return table;
}

Status IdempotencyTable::Insert(const IdempotencyRecord& record) {
  CAISSON_TRY(const std::optional<IdempotencyRecord> before, Find(record.caller, record.key));
  if (before) {
    return Fail(Error(Code::kConflict, "the idempotency key " + Quoted(record.key) + " was used before")
                    .Because("it made sandbox " + before->sandbox.text())
                    .Detail("sandbox", before->sandbox.text()));
  }
  return Query(insert_, record.caller, record.key, Blob{record.request_sha256}, record.sandbox.text(),
               record.created_at)
      .Run();
}

Result<std::optional<IdempotencyRecord>> IdempotencyTable::Find(std::string_view caller, std::string_view key) {
  Query query(find_, caller, key);
  CAISSON_TRY(const bool found, query.Next());
  if (!found) return std::nullopt;
  std::string sandbox;
  query.Read(sandbox);
  CAISSON_TRY(SandboxId id, SandboxId::Parse(sandbox));
  IdempotencyRecord record{.caller = {}, .key = {}, .request_sha256 = {}, .sandbox = std::move(id)};
  query.Read(sandbox, record.caller, record.key, record.request_sha256, record.created_at);
  return record;
}

Status IdempotencyTable::ForgetSandbox(const SandboxId& sandbox) {
  return Query(forget_sandbox_, sandbox.text()).Run();
}

Result<std::uint64_t> IdempotencyTable::ForgetOlderThan(UnixMs created_before) {
  Query query(forget_, created_before);
  CAISSON_CHECK_OK(query.Run());
  return query.Changed();
}

}  // namespace caisson::state
