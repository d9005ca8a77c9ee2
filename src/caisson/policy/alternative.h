#pragma once

#include <string>
#include <string_view>

#include "caisson/policy/rule_set.h"

namespace caisson::policy {

// The way that is open instead of a command that is not, in words for an agent: empty when there is none to name.
std::string AlternativeTo(std::string_view command, const RuleSet& rules);
// Where else files may be read, written or deleted; of another action nothing.
std::string AlternativeTo(Action action, const RuleSet& rules);
// For a text of which it cannot be told what it starts.
std::string AlternativeToUnknown(const RuleSet& rules);

}  // namespace caisson::policy
