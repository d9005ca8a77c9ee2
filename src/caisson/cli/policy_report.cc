#include "caisson/cli/policy_report.h"

#include <algorithm>
#include <boost/json.hpp>

#include "caisson/base/utf8.h"
#include "caisson/policy/compile.h"
#include "caisson/wire/json_text.h"

namespace caisson::cli {
namespace {

boost::json::value TextOrNull(const std::string& text) {
  if (text.empty()) return nullptr;
  return boost::json::value(text);
}

boost::json::object RuleObject(const policy::Rule& rule) {
  boost::json::array actions;
  for (const policy::Action action : rule.actions) actions.emplace_back(std::string(policy::ActionName(action)));
  boost::json::array commands;
  for (const policy::CommandPattern& pattern : rule.commands) commands.emplace_back(pattern.text());
  return {{"name", rule.name},
          {"effect", std::string(policy::EffectName(rule.effect))},
          {"actions", std::move(actions)},
          {"commands", std::move(commands)},
          {"enforcement", rule.enforcement == policy::Enforcement::kKernel ? "kernel" : "tool"},
          {"reason", TextOrNull(rule.reason)},
          {"source", rule.source}};
}

boost::json::object DecisionObject(const policy::Decision& decision) {
  boost::json::array findings;
  for (const policy::Finding& finding : decision.findings) {
    findings.push_back({{"subject", finding.subject},
                        {"rule", TextOrNull(finding.rule)},
                        {"source", TextOrNull(finding.source)},
                        {"effect", std::string(policy::EffectName(finding.effect))},
                        {"counts", finding.counts},
                        {"why", finding.why}});
  }
  return {{"effect", std::string(policy::EffectName(decision.effect))},
          {"rule", decision.rule},
          {"source", decision.source},
          {"reason", TextOrNull(decision.reason)},
          {"alternative", TextOrNull(decision.alternative)},
          {"findings", std::move(findings)}};
}

}  // namespace

std::string PolicyText(const policy::Policy& policy) {
  std::string text = Printable(policy.name()) + " is right: " + std::to_string(policy.rules().size()) +
                     " rules, otherwise " + std::string(policy::EffectName(policy.default_effect())) + "\n";
  for (const std::string& line : policy::DescribeEnforcement(policy)) text += "  " + Printable(line) + "\n";
  return text;
}

std::string PolicyJson(const policy::Policy& policy) {
  boost::json::array rules;
  for (const policy::Rule& rule : policy.rules()) rules.push_back(RuleObject(rule));
  boost::json::array enforcement;
  for (const std::string& line : policy::DescribeEnforcement(policy)) enforcement.emplace_back(line);
  return wire::JsonLine(boost::json::object{{"name", policy.name()},
                                            {"digest", policy.digest()},
                                            {"default", std::string(policy::EffectName(policy.default_effect()))},
                                            {"rules", std::move(rules)},
                                            {"enforcement", std::move(enforcement)}});
}

std::string DecisionJson(const policy::Decision& decision) { return wire::JsonLine(DecisionObject(decision)); }

std::string CasesText(const std::vector<CaseResult>& results) {
  std::string text;
  for (const CaseResult& result : results) {
    if (result.holds()) continue;
    text += "line " + std::to_string(result.one.line) + ": expected " +
            std::string(policy::EffectName(result.one.expected)) + ", decided " +
            std::string(policy::EffectName(result.decision.effect)) + " by " + Printable(result.decision.rule) + ": " +
            Printable(result.one.command) + "\n";
  }
  const auto failed = std::count_if(results.begin(), results.end(), [](const CaseResult& one) { return !one.holds(); });
  return text + std::to_string(results.size()) + " commands, " + std::to_string(failed) +
         " decided otherwise than expected\n";
}

std::string CasesJson(const std::vector<CaseResult>& results) {
  boost::json::array array;
  for (const CaseResult& result : results) {
    array.push_back({{"line", result.one.line},
                     {"command", result.one.command},
                     {"expected", std::string(policy::EffectName(result.one.expected))},
                     {"decision", DecisionObject(result.decision)}});
  }
  return wire::JsonLine(boost::json::object{{"cases", std::move(array)}});
}

}  // namespace caisson::cli
