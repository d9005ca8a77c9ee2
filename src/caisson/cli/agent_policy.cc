#include "caisson/cli/agent_policy.h"

#include "caisson/cli/copy_request.h"
#include "caisson/cli/policy_file.h"

namespace caisson::cli {

Result<std::optional<client::PolicyText>> AgentPolicy(const CommandLine& line, const EffectiveValues& values) {
  std::optional<NamedPolicy> named;
  if (const OptionValue* given = line.Find(Option::kAgentPolicy)) {
    CAISSON_TRY(named, FindPolicy(given->text));
  } else {
    CAISSON_TRY(named, FindTemplatePolicy(values));
  }
  if (!named) return std::nullopt;
  if (!named->text) return client::PolicyText{.preset = named->name};
  return client::PolicyText{.text = *std::move(named->text),
                            .format = named->format() == document::Format::kJson ? "json" : "toml",
                            .name = LastPart(named->name)};
}

}  // namespace caisson::cli
