#include "caisson/cli/template_values.h"

#include "caisson/template/settings.h"

namespace caisson::cli {
namespace {

using templates::Layer;
using templates::Setting;

// What was given, by option or variable. Those that may be given again are not for one to replace another.
Layer GivenSettings(const CommandLine& line) {
  Layer layer;
  for (const OptionInfo* info : OptionsOf(line.command)) {
    if (info->metavar == nullptr || info->occurs == Occurs::kRepeatedly) continue;
    if (const OptionValue* given = line.Find(info->id)) layer[info->name] = {given->text, given->source};
  }
  return layer;
}

std::optional<Setting> Find(const Layer& layer, const char* name) {
  const auto found = layer.find(name);
  if (found == layer.end()) return std::nullopt;
  return found->second;
}

// All but the policy: that of an operator's own command is given or none.
void AddSettings(const Layer& merged, CommandLine& line) {
  for (const OptionInfo* info : OptionsOf(line.command)) {
    if (info->metavar == nullptr || info->occurs == Occurs::kRepeatedly || line.Has(info->id)) continue;
    if (info->id == Option::kPolicy || info->id == Option::kAgentPolicy) continue;
    if (const auto setting = Find(merged, info->name)) line.values[info->id] = {{setting->text, setting->source}};
  }
}

void AddVariables(const templates::Template& content, CommandLine& line) {
  if (content.env.empty()) return;
  std::vector<OptionValue> variables;
  for (const auto& [name, value] : content.env) variables.push_back({name + "=" + value.value, value.source});
  std::vector<OptionValue>& given = line.values[Option::kEnv];
  given.insert(given.begin(), variables.begin(), variables.end());
}

}  // namespace

EffectiveValues MergeValues(const CommandLine& line, const std::optional<templates::Loaded>& loaded,
                            const std::optional<templates::Profile>& profile) {
  EffectiveValues values{.line = line, .tier = std::nullopt, .policy = std::nullopt, .lacking = {}};
  const Layer merged =
      templates::Merge({GivenSettings(line), loaded ? templates::SettingsOf(loaded->content, loaded->folder) : Layer{},
                        profile ? templates::SettingsOf(*profile) : Layer{}});
  AddSettings(merged, values.line);
  values.tier = Find(merged, "tier");
  values.policy = Find(templates::Merge({loaded ? templates::SettingsOf(loaded->content, loaded->folder) : Layer{},
                                         profile ? templates::SettingsOf(*profile) : Layer{}}),
                       "policy");
  if (loaded) {
    AddVariables(loaded->content, values.line);
    values.folder = loaded->folder;
    values.lacking = loaded->content.NotYet();
    const auto& user = loaded->content.user;
    if (line.command == CommandId::kCreate && user && user->value == templates::User::kRoot) {
      values.lacking.push_back(
          {"a user of all commands of a sandbox that stays; `caisson exec` takes --user", user->source});
    }
  }
  if (profile) {
    for (templates::Lacking& lacking : profile->NotYet()) values.lacking.push_back(std::move(lacking));
  }
  return values;
}

Result<EffectiveValues> ReadValues(const CommandLine& line) {
  std::optional<templates::Loaded> loaded;
  if (const OptionValue* file = line.Find(Option::kTemplate)) {
    auto read = templates::Load(file->text);
    if (!read) return Fail(std::move(read).error());
    loaded = std::move(*read);
  }
  std::optional<Setting> name;
  if (loaded && loaded->content.profile) name = {loaded->content.profile->value, loaded->content.profile->source};
  if (const OptionValue* given = line.Find(Option::kProfile)) name = {given->text, given->source};
  std::optional<templates::Profile> profile;
  if (name) {
    auto found = templates::FindProfile(name->text);
    if (!found) return Fail(std::move(found).error().Context(name->source));
    profile = std::move(*found);
  }
  return MergeValues(line, loaded, profile);
}

Result<EffectiveValues> UsableValues(const CommandLine& line) {
  CAISSON_TRY(EffectiveValues values, ReadValues(line));
  // What the command line itself says of the tier is for its own reader to judge.
  const bool is_given = line.Has(Option::kTier);
  CAISSON_CHECK_OK(templates::CheckUse(values.lacking, values.tier && !is_given ? &*values.tier : nullptr));
  return values;
}

std::vector<std::string> NoticesOf(const EffectiveValues& values) {
  std::vector<std::string> notices;
  for (const templates::Lacking& lacking : values.lacking) {
    notices.push_back(lacking.source + ": not there yet: " + lacking.what);
  }
  return notices;
}

}  // namespace caisson::cli
