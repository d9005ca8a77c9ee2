#pragma once

#include <string>
#include <vector>

#include "caisson/cli/policy_cases.h"
#include "caisson/policy/decide.h"
#include "caisson/policy/policy.h"

namespace caisson::cli {

// What `caisson policy` prints: text for a person, or one line of JSON.

// Of a policy that is right: what it is, and what the kernel holds of it.
std::string PolicyText(const policy::Policy& policy);
std::string PolicyJson(const policy::Policy& policy);

std::string DecisionJson(const policy::Decision& decision);

std::string CasesText(const std::vector<CaseResult>& results);
std::string CasesJson(const std::vector<CaseResult>& results);

}  // namespace caisson::cli
