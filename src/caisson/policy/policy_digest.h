#pragma once

#include <string>

#include "caisson/policy/rule_set.h"

namespace caisson::policy {

// SHA-256 in hexadecimal of what the rules say: not of where they stand, in which order, or in which format.
std::string DigestOf(const RuleSet& rules);

}  // namespace caisson::policy
