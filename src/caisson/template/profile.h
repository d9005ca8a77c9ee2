#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/template/template.h"

namespace caisson::templates {

// A bundle of what sandboxes of one kind of use need. Its values are weaker than a template's, but what it promises at
// least, the tier, is not to be lowered.
struct Profile {
  std::string name;
  Tier tier_floor = Tier::kProcess;
  std::string policy;   // a preset
  std::string network;  // as --network takes it
  Audit audit = Audit::kOn;

  // What of it is not there yet.
  std::vector<Lacking> NotYet() const;
};

// personal, team, production or high-security. Errors: kInvalidArgument; the cause names them and the nearest.
Result<Profile> FindProfile(std::string_view name);

// Whether `name` is that of a policy that needs no file.
bool IsPolicyPreset(std::string_view name);

// Whether a policy's file may be named so: a path below the template's folder, of at most 4095 bytes, without "..". The
// cause of the error says what it must be.
Status CheckPolicyPath(std::string_view path);

}  // namespace caisson::templates
