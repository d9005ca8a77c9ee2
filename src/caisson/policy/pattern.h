#pragma once

#include <string_view>

#include "caisson/base/result.h"
#include "caisson/policy/rule.h"

namespace caisson::policy {

// What rules are about, from their texts. Errors: kInvalidArgument, whose message goes on after the place and the key:
// "must be ...".

Result<PathPattern> ParsePathPattern(std::string_view text);
// Words are parted by spaces; there is no quoting.
Result<CommandPattern> ParseCommandPattern(std::string_view text);
// "HOST:PORT", "*.HOST:PORT", "HOST:*", "[ADDRESS]:PORT"; in lower case afterwards.
Result<std::string> ParseHostPattern(std::string_view text);
// `target`: "HOST:PORT". "*.example.org" does not match "example.org" itself.
bool HostMatches(std::string_view pattern, std::string_view target);
// A name of a secret: letters, digits and '_', no digit first.
bool IsSecretName(std::string_view text);

}  // namespace caisson::policy
