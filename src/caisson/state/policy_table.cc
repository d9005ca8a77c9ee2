#include "caisson/state/policy_table.h"

#include <utility>

namespace caisson::state {

Result<PolicyTable> PolicyTable::Prepare(const Connection& connection) {
  PolicyTable table;
  const std::pair<Statement*, const char*> statements[] = {
      {&table.set_,
       "INSERT INTO sandbox_policies (sandbox, name, digest, format, text) VALUES (?1, ?2, ?3, ?4, ?5) "
       "ON CONFLICT (sandbox) DO UPDATE SET name = ?2, digest = ?3, format = ?4, text = ?5"},
      {&table.give_,
       "INSERT INTO sandbox_policies (sandbox, name, digest, format, text) SELECT id, ?1, ?2, ?3, ?4 FROM sandboxes "
       "WHERE id NOT IN (SELECT sandbox FROM sandbox_policies)"},
      {&table.get_, "SELECT name, digest, format, text FROM sandbox_policies WHERE sandbox = ?1"},
      {&table.used_, "SELECT used FROM rule_uses WHERE sandbox = ?1 AND policy = ?2 AND rule = ?3"},
      {&table.take_,
       "INSERT INTO rule_uses (sandbox, policy, rule, used) SELECT ?1, ?2, ?3, ?5 WHERE ?5 <= ?4 "
       "ON CONFLICT (sandbox, policy, rule) DO UPDATE SET used = used + ?5 WHERE used + ?5 <= ?4"},
  };
  for (const auto& [statement, sql] : statements) {
    CAISSON_TRY(*statement, connection.Prepare(sql));
  }
  return table;
}

Status PolicyTable::Set(const SandboxId& sandbox, const PolicyRecord& record) {
  return Query(set_, sandbox.text(), record.name.name, record.name.digest, record.format, Blob{record.text}).Run();
}

Result<std::uint64_t> PolicyTable::GiveToAllWithout(const PolicyRecord& record) {
  Query query(give_, record.name.name, record.name.digest, record.format, Blob{record.text});
  CAISSON_CHECK_OK(query.Run());
  return query.Changed();
}

Result<std::optional<PolicyRecord>> PolicyTable::Get(const SandboxId& sandbox) {
  Query query(get_, sandbox.text());
  CAISSON_TRY(const bool found, query.Next());
  if (!found) return std::nullopt;
  PolicyRecord record;
  query.Read(record.name.name, record.name.digest, record.format, record.text);
  return record;
}

Result<std::uint64_t> PolicyTable::Used(const SandboxId& sandbox, std::string_view digest, std::string_view rule) {
  Query query(used_, sandbox.text(), digest, rule);
  CAISSON_TRY(const bool found, query.Next());
  std::uint64_t used = 0;
  if (found) query.Read(used);
  return used;
}

Result<bool> PolicyTable::Take(const SandboxId& sandbox, std::string_view digest, const std::vector<UseClaim>& claims) {
  for (const UseClaim& claim : claims) {
    Query query(take_, sandbox.text(), digest, claim.rule, std::uint64_t{claim.most}, std::uint64_t{claim.count});
    CAISSON_CHECK_OK(query.Run());
    if (query.Changed() == 0) return false;
  }
  return true;
}

}  // namespace caisson::state
