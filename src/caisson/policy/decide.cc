#include "caisson/policy/decide.h"

#include "caisson/base/utf8.h"
#include "caisson/policy/call_judge.h"

namespace caisson::policy {

Decision DecideCommand(const Policy& policy, const CommandCall& call, const Situation& situation) {
  return CallJudge(policy.rule_set(), situation, Conditions::kJudged).Judge(call);
}

Decision DecideFile(const Policy& policy, Action action, std::string_view path, const Situation& situation) {
  const RuleSet& rules = policy.rule_set();
  std::string subject = std::string(ActionName(action)) + " " + Printable(path);
  return CallJudge(rules, situation, Conditions::kJudged)
      .Judge(action, std::move(subject), rules.AboutFile(action, path));
}

Decision DecideOther(const Policy& policy, Action action, std::string_view what, const Situation& situation) {
  const RuleSet& rules = policy.rule_set();
  std::string subject(ActionName(action));
  if (!what.empty()) subject += " " + Printable(what);
  return CallJudge(rules, situation, Conditions::kJudged)
      .Judge(action, std::move(subject), rules.AboutOther(action, what));
}

}  // namespace caisson::policy
