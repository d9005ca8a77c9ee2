#pragma once

#include <string>

#include "caisson/policy/decide.h"

namespace caisson::policy {

// A decision as lines for a person: what is decided, each finding with its reason, how far each rule that counted
// binds, and what an allowed call may do all the same. Without control characters but '\n'.
std::string Explain(const Policy& policy, const Decision& decision);

}  // namespace caisson::policy
