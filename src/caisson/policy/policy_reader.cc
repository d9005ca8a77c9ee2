#include "caisson/policy/policy_reader.h"

#include <array>
#include <map>
#include <utility>

#include "caisson/base/utf8.h"
#include "caisson/policy/call_judge.h"
#include "caisson/policy/policy.h"
#include "caisson/policy/rule_reader.h"

namespace caisson::policy {
namespace {

struct ExampleOf {
  std::size_t rule;
  Example example;
};

// The rule is among those that made the decision what it is.
bool DecidedBy(const Rule& rule, const Decision& decision) {
  if (decision.effect != rule.effect) return false;
  for (const Finding& finding : decision.findings) {
    if (finding.counts && finding.effect == rule.effect && finding.rule == rule.name) return true;
  }
  return false;
}

Status CheckExample(const RuleSet& rules, const ExampleOf& entry) {
  const Rule& rule = rules.rules()[entry.rule];
  CommandCall call;
  call.text = entry.example.command;
  const Situation nowhere;
  const Decision decision = CallJudge(rules, nowhere, Conditions::kTaken).Judge(call);
  if (DecidedBy(rule, decision) == entry.example.matches) return {};
  const std::string key = entry.example.matches ? "'match'" : "'not_match'";
  return Fail(Error(Code::kInvalidArgument, entry.example.place + ": " + key + " of the rule " + Quoted(rule.name) +
                                                " does not hold for " + Quoted(entry.example.command))
                  .Because("the decision is " + std::string(EffectName(decision.effect)) + ": " + decision.reason)
                  .Remedy("change the rule or the example"));
}

void RefuseRepeated(document::TableReader& table, const Rule& rule, std::map<std::string, std::string>& places) {
  const auto [found, is_new] = places.emplace(rule.name, rule.source);
  if (!is_new)
    table.Refuse("name", "must be another: the rule at " + found->second + " is called " + Quoted(rule.name));
}

}  // namespace

Result<RuleSet> ReadRules(std::string_view text, document::Format format, std::string_view file,
                          const ZoneSource& zones) {
  CAISSON_TRY(const document::Value value, document::Read(text, format, file));
  document::TableReader top(value, file);
  if (!top.Has("version")) top.Refuse("version", "must be given, and 1");
  (void)top.Whole("version", 1, 1);
  constexpr std::array kEffects = {Effect::kDeny, Effect::kAsk, Effect::kAllow};
  const Effect default_effect = kEffects.at(top.Choice("default", {"deny", "ask", "allow"}).value_or(0));

  std::vector<document::TableReader> tables = top.Tables("rule");
  if (tables.size() > kMostRules) top.Refuse("rule", "must hold at most " + std::to_string(kMostRules) + " rules");
  RuleReader reader(zones);
  std::vector<Rule> rules;
  std::vector<ExampleOf> examples;
  std::map<std::string, std::string> places;
  for (document::TableReader& table : tables) {
    Rule rule = reader.Read(table, rules.size() + 1);
    RefuseRepeated(table, rule, places);
    (void)table.Finish();  // the outer reader tells
    for (Example& example : reader.TakeExamples()) {
      examples.push_back({.rule = rules.size(), .example = std::move(example)});
    }
    rules.push_back(std::move(rule));
  }
  CAISSON_CHECK_OK(top.Finish());
  if (reader.unsupported()) return Fail(*reader.unsupported());
  RuleSet set(std::string(file), default_effect, std::move(rules));
  for (const ExampleOf& example : examples) CAISSON_CHECK_OK(CheckExample(set, example));
  return set;
}

}  // namespace caisson::policy
