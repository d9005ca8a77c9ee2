#include "caisson/cli/policy_file.h"

#include "caisson/base/nearest_name.h"
#include "caisson/base/utf8.h"
#include "caisson/policy/zone.h"
#include "caisson/template/load.h"
#include "caisson/template/profile.h"

namespace caisson::cli {

document::Format NamedPolicy::format() const {
  return name.ends_with(".json") ? document::Format::kJson : document::Format::kToml;
}

Result<NamedPolicy> FindPolicy(const std::string& named) {
  if (templates::IsPolicyPreset(named)) return NamedPolicy{.name = named, .text = std::nullopt};
  Result<templates::LoadedText> loaded = templates::LoadText(named);
  if (!loaded && loaded.error().code() == Code::kNotFound && named.find('/') == std::string::npos) {
    const std::vector<std::string_view>& presets = policy::Policy::PresetNames();
    const auto nearest = NearestName(named, {presets.begin(), presets.end()});
    return Fail(Error(Code::kInvalidArgument, "there is no policy " + Quoted(named))
                    .Because("it is no preset and no file" + (nearest ? "; the nearest preset is " + *nearest : ""))
                    .Remedy("the presets are open, standard, minimal, read_only and strict"));
  }
  if (!loaded) return Fail(std::move(loaded).error());
  return NamedPolicy{.name = named, .text = std::move(loaded->text)};
}

Result<std::optional<NamedPolicy>> FindTemplatePolicy(const EffectiveValues& values) {
  if (!values.policy) return std::nullopt;
  NamedPolicy named{.name = values.policy->text, .text = std::nullopt};
  if (!templates::IsPolicyPreset(named.name)) {
    CAISSON_TRY(named.text,
                templates::LoadPolicyText(values.folder, {.value = named.name, .source = values.policy->source}));
  }
  return named;
}

Result<policy::Policy> ReadPolicy(const NamedPolicy& named) {
  if (!named.text) return policy::Policy::Preset(named.name);
  return policy::Policy::Read(*named.text, named.format(), named.name, policy::SystemZones());
}

Result<policy::Policy> LoadPolicy(const std::string& named) {
  CAISSON_TRY(const NamedPolicy found, FindPolicy(named));
  return ReadPolicy(found);
}

Result<policy::Policy> LoadRunPolicy(const std::string& named, const EffectiveValues& values) {
  if (named != "template") return LoadPolicy(named);
  CAISSON_TRY(const std::optional<NamedPolicy> found, FindTemplatePolicy(values));
  if (found) return ReadPolicy(*found);
  return Fail(Error(Code::kInvalidArgument, "--policy template finds no policy")
                  .Because("no template or profile is given that names one")
                  .Remedy("give --template FILE with a policy in it, or name the policy"));
}

}  // namespace caisson::cli
