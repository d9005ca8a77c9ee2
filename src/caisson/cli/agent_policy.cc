#include "caisson/cli/agent_policy.h"

#include "caisson/cli/copy_request.h"
#include "caisson/cli/policy_file.h"

namespace caisson::cli {
namespace {

client::PolicyText TextOf(NamedPolicy named) {
  if (!named.text) return {.preset = std::move(named.name)};
  const char* const format = named.format() == document::Format::kJson ? "json" : "toml";
  return {.text = *std::move(named.text), .format = format, .name = LastPart(named.name)};
}

}  // namespace

Result<client::PolicyText> PolicyTextOf(const std::string& name) {
  CAISSON_TRY(NamedPolicy named, FindPolicy(name));
  return TextOf(std::move(named));
}

Result<std::optional<client::PolicyText>> AgentPolicy(const CommandLine& line, const EffectiveValues& values) {
  std::optional<NamedPolicy> named;
  if (const OptionValue* given = line.Find(Option::kAgentPolicy)) {
    CAISSON_TRY(named, FindPolicy(given->text));
  } else {
    CAISSON_TRY(named, FindTemplatePolicy(values));
  }
  if (!named) return std::nullopt;
  return TextOf(*std::move(named));
}

}  // namespace caisson::cli
