#include "caisson/cli/policy_file.h"

#include <algorithm>

#include "caisson/base/nearest_name.h"
#include "caisson/base/utf8.h"
#include "caisson/policy/zone.h"
#include "caisson/template/load.h"
#include "caisson/template/profile.h"

namespace caisson::cli {
namespace {

Result<policy::Policy> Read(const std::string& text, const std::string& file) {
  const document::Format format = file.ends_with(".json") ? document::Format::kJson : document::Format::kToml;
  return policy::Policy::Read(text, format, file, policy::SystemZones());
}

}  // namespace

Result<std::string> LoadPolicyFile(const std::string& named) {
  const std::vector<std::string_view>& presets = policy::Policy::PresetNames();
  Result<templates::LoadedText> loaded = templates::LoadText(named);
  if (!loaded && loaded.error().code() == Code::kNotFound && named.find('/') == std::string::npos) {
    const auto nearest = NearestName(named, {presets.begin(), presets.end()});
    return Fail(Error(Code::kInvalidArgument, "there is no policy " + Quoted(named))
                    .Because("it is no preset and no file" + (nearest ? "; the nearest preset is " + *nearest : ""))
                    .Remedy("the presets are open, standard, minimal, read_only and strict"));
  }
  if (!loaded) return Fail(std::move(loaded).error());
  return std::move(loaded->text);
}

Result<policy::Policy> LoadPolicy(const std::string& named) {
  const std::vector<std::string_view>& presets = policy::Policy::PresetNames();
  if (std::find(presets.begin(), presets.end(), named) != presets.end()) return policy::Policy::Preset(named);
  CAISSON_TRY(const std::string text, LoadPolicyFile(named));
  return Read(text, named);
}

Result<policy::Policy> LoadRunPolicy(const std::string& named, const EffectiveValues& values) {
  if (named != "template") return LoadPolicy(named);
  if (!values.policy) {
    return Fail(Error(Code::kInvalidArgument, "--policy template finds no policy")
                    .Because("no template or profile is given that names one")
                    .Remedy("give --template FILE with a policy in it, or name the policy"));
  }
  const std::string& of_template = values.policy->text;
  if (templates::IsPolicyPreset(of_template)) return policy::Policy::Preset(of_template);
  CAISSON_TRY(const std::string text,
              templates::LoadPolicyText(values.folder, {.value = of_template, .source = values.policy->source}));
  return Read(text, of_template);
}

}  // namespace caisson::cli
