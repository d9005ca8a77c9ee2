#include "caisson/service/own_gate.h"

#include <algorithm>

#include "caisson/service/sandbox_policy.h"

namespace caisson::service {

Result<std::uint32_t> RecordedUses::Used(const std::string& rule) {
  CAISSON_TRY(const std::uint64_t used, database_.RuleUses(sandbox_, digest_, rule));
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(used, UINT32_MAX));
}

Result<bool> RecordedUses::Take(const std::vector<Claim>& claims) {
  std::vector<state::UseClaim> uses;
  for (const Claim& claim : claims) uses.push_back({claim.rule, claim.most, claim.count});
  return database_.TakeRuleUses(sandbox_, digest_, uses);
}

Result<guard::Gate*> OwnGate::Get() {
  const std::lock_guard lock(mutex_);
  if (gate_ != nullptr) return gate_.get();
  CAISSON_TRY(const auto record, database_.GetPolicy(sandbox_));
  if (!record) return Fail(Error(Code::kInternal, "the database holds no policy of the sandbox"));
  CAISSON_TRY(policy::Policy policy, PolicyOf(*record));
  uses_ = std::make_unique<RecordedUses>(database_, sandbox_, policy.digest());
  CAISSON_TRY(gate_, guard::Gate::Make(std::move(policy), *uses_, programs()));
  return gate_.get();
}

void OwnGate::Forget() {
  gate_.reset();
  uses_.reset();
}

}  // namespace caisson::service
