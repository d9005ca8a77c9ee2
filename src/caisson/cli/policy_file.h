#pragma once

#include <string>

#include "caisson/base/result.h"
#include "caisson/cli/template_values.h"
#include "caisson/policy/policy.h"

namespace caisson::cli {

// The policy that somebody named: a preset, or a file, TOML or (with the ending .json) JSON, opened with the caller's
// rights. A file that is called like a preset is written with a slash. Errors: of templates::LoadText and
// policy::Policy::Read; kInvalidArgument for what is neither.
Result<policy::Policy> LoadPolicy(const std::string& named);
// The text of a policy's file, unread. Errors: as above, but for Read's.
Result<std::string> LoadPolicyFile(const std::string& named);

// What `caisson run --policy` names: that, or with "template" the policy of the template or else of the profile.
// Errors: also kInvalidArgument when neither has one.
Result<policy::Policy> LoadRunPolicy(const std::string& named, const EffectiveValues& values);

}  // namespace caisson::cli
