#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/policy/decide.h"

namespace caisson::cli {

// What a policy should decide: lines of an effect (allow, ask or deny), a blank and a command text. Empty lines and
// those that begin with # say nothing.
struct PolicyCase {
  std::size_t line = 0;
  policy::Effect expected = policy::Effect::kDeny;
  std::string command;
};
// Errors: kInvalidArgument as "FILE:LINE: what".
Result<std::vector<PolicyCase>> ReadPolicyCases(std::string_view text, std::string_view file);

struct CaseResult {
  PolicyCase one;
  policy::Decision decision;
  bool holds() const { return decision.effect == one.expected; }
};
std::vector<CaseResult> TryPolicyCases(const policy::Policy& policy, const std::vector<PolicyCase>& cases,
                                       const policy::Situation& situation);

}  // namespace caisson::cli
