#include "caisson/cli/agent_policy.h"

#include "caisson/cli/copy_request.h"
#include "caisson/cli/policy_file.h"
#include "caisson/template/load.h"
#include "caisson/template/profile.h"

namespace caisson::cli {
namespace {

client::PolicyText TextOf(std::string text, const std::string& file) {
  return {.text = std::move(text), .format = file.ends_with(".json") ? "json" : "toml", .name = LastPart(file)};
}

}  // namespace

Result<std::optional<client::PolicyText>> AgentPolicy(const CommandLine& line, const EffectiveValues& values) {
  if (const OptionValue* given = line.Find(Option::kAgentPolicy)) {
    if (templates::IsPolicyPreset(given->text)) return client::PolicyText{.preset = given->text};
    CAISSON_TRY(std::string text, LoadPolicyFile(given->text));
    return TextOf(std::move(text), given->text);
  }
  if (!values.policy) return std::nullopt;
  const std::string& named = values.policy->text;
  if (templates::IsPolicyPreset(named)) return client::PolicyText{.preset = named};
  CAISSON_TRY(std::string text,
              templates::LoadPolicyText(values.folder, {.value = named, .source = values.policy->source}));
  return TextOf(std::move(text), named);
}

}  // namespace caisson::cli
