#pragma once

#include <string_view>

#include "caisson/base/result.h"
#include "caisson/document/document.h"
#include "caisson/policy/rule_set.h"
#include "caisson/policy/zone.h"

namespace caisson::policy {

// What a policy file says, with its examples held. Errors: those of Policy::Read.
Result<RuleSet> ReadRules(std::string_view text, document::Format format, std::string_view file,
                          const ZoneSource& zones);

}  // namespace caisson::policy
