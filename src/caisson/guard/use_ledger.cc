#include "caisson/guard/use_ledger.h"

#include <algorithm>

namespace caisson::guard {

Result<std::uint32_t> MemoryLedger::Used(const std::string& rule) {
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(rule);
  return found == used_.end() ? 0 : found->second;
}

Result<bool> MemoryLedger::Take(const std::vector<Claim>& claims) {
  const std::lock_guard lock(mutex_);
  const auto is_left = [&](const Claim& claim) {
    const auto found = used_.find(claim.rule);
    const std::uint32_t used = found == used_.end() ? 0 : found->second;
    return used <= claim.most && claim.count <= claim.most - used;
  };
  if (!std::all_of(claims.begin(), claims.end(), is_left)) return false;
  for (const Claim& claim : claims) used_[claim.rule] += claim.count;
  return true;
}

}  // namespace caisson::guard
