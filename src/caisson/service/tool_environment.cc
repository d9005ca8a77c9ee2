#include "caisson/service/tool_environment.h"

#include <algorithm>

#include "caisson/policy/kernel_terms.h"

namespace caisson::service {
namespace {

constexpr std::size_t kMostNamed = 200;  // commands, and folders

void Add(std::vector<std::string>& list, std::string text) {
  if (list.size() < kMostNamed && std::find(list.begin(), list.end(), text) == list.end()) {
    list.push_back(std::move(text));
  }
}

void AddRule(const policy::Rule& rule, tool::Environment& environment) {
  for (const policy::CommandPattern& command : rule.commands) Add(environment.commands, command.text());
  for (const policy::PathPattern& path : rule.paths) {
    const std::string text = path.kind == policy::PathPattern::Kind::kBelow ? path.text + "/**" : path.text;
    if (policy::Covers(rule, policy::Action::kFileRead)) Add(environment.readable, text);
    if (policy::Covers(rule, policy::Action::kFileWrite)) Add(environment.writable, text);
  }
}

}  // namespace

Result<tool::Environment> DescribeEnvironment(const Settings& settings, OwnGate& gate) {
  CAISSON_TRY(const guard::Gate* const rules, gate.Get());
  const policy::Policy& policy = rules->policy();
  tool::Environment environment{.image = settings.image,
                                .workspace = plan::kAgentWorkspace,
                                .user = "agent",
                                .cpus = settings.limits.cpus.value / 1000.0,
                                .memory_bytes = settings.limits.memory.value,
                                .disk_bytes = settings.limits.disk.value,
                                .pids = settings.limits.pids,
                                .timeout_ms = settings.command_timeout.count(),
                                .variables = {},
                                .policy = policy.name(),
                                .otherwise = std::string(policy::EffectName(policy.default_effect())),
                                .commands = {},
                                .readable = {},
                                .writable = {}};
  for (const auto& [name, value] : settings.env) Add(environment.variables, name);
  policy::Situation situation;
  situation.now = guard::Now();
  for (const policy::Rule& rule : policy.rules()) {
    if (rule.effect == policy::Effect::kAllow && !policy::WhyNotNow(rule, situation)) AddRule(rule, environment);
  }
  return environment;
}

}  // namespace caisson::service
