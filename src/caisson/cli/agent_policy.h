#pragma once

#include <optional>

#include "caisson/base/result.h"
#include "caisson/cli/command_line.h"
#include "caisson/cli/template_values.h"
#include "caisson/client/sandboxes.h"

namespace caisson::cli {

// As a request holds it. `name`: a preset, or a file. Errors: those of FindPolicy.
Result<client::PolicyText> PolicyTextOf(const std::string& name);

// The policy of a sandbox that is to be made: what --policy names, or else the template or the profile; absent: that is
// the node's to choose. A preset, or a file, TOML or (with the ending .json) JSON, opened with the caller's rights; the
// node reads it. `line`: as it was given. Errors: those of templates::LoadText and LoadPolicyText; kInvalidArgument for
// what is neither.
Result<std::optional<client::PolicyText>> AgentPolicy(const CommandLine& line, const EffectiveValues& values);

}  // namespace caisson::cli
