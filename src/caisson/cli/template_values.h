#pragma once

#include <optional>
#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/cli/command_line.h"
#include "caisson/template/load.h"
#include "caisson/template/precedence.h"
#include "caisson/template/profile.h"
#include "caisson/template/template.h"

namespace caisson::cli {

// What counts once a template and a profile have their say.
struct EffectiveValues {
  // With a value for each option that was given neither on the command line nor by a variable but is in the template or
  // the profile, as if it had been given; its source is "caisson.toml:14" or "profile team". Variables of the template
  // stand before those of --env.
  CommandLine line;
  std::optional<templates::Setting> tier;
  std::optional<templates::Setting> policy;  // of agents: an operator's own command follows none
  std::string folder = {};                   // of the template, from which its policy is named
  std::vector<templates::Lacking> lacking;   // what of them is not there yet, but for the tier
};

// Pure. Both may be absent.
EffectiveValues MergeValues(const CommandLine& line, const std::optional<templates::Loaded>& loaded,
                            const std::optional<templates::Profile>& profile);

// Reads the template that --template or CAISSON_TEMPLATE names, and no other, and finds the profile. Errors: those of
// templates::Load and FindProfile.
Result<EffectiveValues> ReadValues(const CommandLine& line);

// The same, for a sandbox that is to be made of it. Errors: also templates::CheckUse.
Result<EffectiveValues> UsableValues(const CommandLine& line);

// What to tell whoever makes a sandbox of it: what is not there yet or does not apply.
std::vector<std::string> NoticesOf(const EffectiveValues& values);

}  // namespace caisson::cli
