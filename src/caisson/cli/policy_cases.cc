#include "caisson/cli/policy_cases.h"

#include <array>

#include "caisson/base/utf8.h"

namespace caisson::cli {

Result<std::vector<PolicyCase>> ReadPolicyCases(std::string_view text, std::string_view file) {
  constexpr std::array kEffects = {policy::Effect::kAllow, policy::Effect::kAsk, policy::Effect::kDeny};
  std::vector<PolicyCase> cases;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.find_first_not_of(" \t") == line.npos || line.front() == '#') continue;
    const std::string_view word = line.substr(0, line.find(' '));
    const auto* effect = std::find_if(kEffects.begin(), kEffects.end(),
                                      [&](policy::Effect known) { return policy::EffectName(known) == word; });
    if (effect == kEffects.end() || word.size() + 1 >= line.size()) {
      return Fail(Error(Code::kInvalidArgument, std::string(file) + ":" + std::to_string(number) +
                                                    ": a line is an effect, a blank and a command")
                      .Because("it begins with " + Quoted(std::string(word)))
                      .Remedy("begin it with allow, ask or deny"));
    }
    cases.push_back({.line = number, .expected = *effect, .command = std::string(line.substr(word.size() + 1))});
  }
  return cases;
}

std::vector<CaseResult> TryPolicyCases(const policy::Policy& policy, const std::vector<PolicyCase>& cases,
                                       const policy::Situation& situation) {
  std::vector<CaseResult> results;
  for (const PolicyCase& one : cases) {
    policy::CommandCall call;
    call.text = one.command;
    results.push_back({one, policy::DecideCommand(policy, call, situation)});
  }
  return results;
}

}  // namespace caisson::cli
