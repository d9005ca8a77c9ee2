#include "caisson/template/profile.h"

#include <algorithm>

#include "caisson/base/nearest_name.h"
#include "caisson/base/utf8.h"
#include "caisson/policy/policy.h"

namespace caisson::templates {
namespace {

std::vector<Profile> MakeProfiles() {
  return {
      {.name = "personal", .tier_floor = Tier::kProcess, .policy = "standard", .network = "none", .audit = Audit::kOn},
      {.name = "team", .tier_floor = Tier::kProcess, .policy = "standard", .network = "none", .audit = Audit::kOn},
      {.name = "production",
       .tier_floor = Tier::kGvisor,
       .policy = "standard",
       .network = "none",
       .audit = Audit::kRequired},
      {.name = "high-security",
       .tier_floor = Tier::kMicrovm,
       .policy = "strict",
       .network = "none",
       .audit = Audit::kRequired},
  };
}

}  // namespace

Result<Profile> FindProfile(std::string_view name) {
  const std::vector<Profile> profiles = MakeProfiles();
  std::vector<std::string> names;
  for (const Profile& profile : profiles) {
    if (profile.name == name) return profile;
    names.push_back(profile.name);
  }
  std::string cause = "must be personal, team, production or high-security";
  if (const auto nearest = NearestName(name, names)) cause += "; did you mean " + Quoted(*nearest) + "?";
  return Fail(Error(Code::kInvalidArgument, "there is no profile " + Quoted(name))
                  .Because(std::move(cause))
                  .Remedy("give --profile personal"));
}

bool IsPolicyPreset(std::string_view name) {
  const std::vector<std::string_view>& presets = policy::Policy::PresetNames();
  return std::find(presets.begin(), presets.end(), name) != presets.end();
}

Status CheckPolicyPath(std::string_view path) {
  constexpr std::size_t kLongestPath = 4095;  // PATH_MAX without the last zero
  constexpr const char* kExpected =
      "must be open, standard, minimal, read_only, strict, or a file below the folder of the template";
  const auto refused = [](std::string cause) {
    return Fail(Error(Code::kInvalidArgument, "the policy is not found by that name").Because(std::move(cause)));
  };
  if (path.empty() || path.size() > kLongestPath || path.front() == '/') return refused(kExpected);
  for (std::string_view rest = path; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    if (part == "..") return refused(kExpected);
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  // A mistyped preset would be looked for as a file.
  if (path.find_first_of("./") != std::string_view::npos) return {};
  const std::vector<std::string_view>& presets = policy::Policy::PresetNames();
  if (const auto nearest = NearestName(path, {presets.begin(), presets.end()})) {
    return refused(std::string(kExpected) + "; did you mean " + Quoted(*nearest) + "?");
  }
  return {};
}

}  // namespace caisson::templates
