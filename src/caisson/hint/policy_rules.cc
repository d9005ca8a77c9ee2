#include <string>
#include <string_view>

#include "caisson/base/utf8.h"
#include "caisson/hint/complaints.h"
#include "caisson/hint/rules.h"

namespace caisson::hint {
namespace {

// What a policy says of a call of which it cannot tell what it starts (policy::Decision::rule).
constexpr std::string_view kUnknownShell = "unknown_shell";

// The policy let it run, and no longer did.
bool WasStopped(const Evidence& evidence) {
  return std::holds_alternative<sandbox::Cancelled>(evidence.result.outcome) && evidence.result.decision &&
         evidence.result.decision->effect == "deny";
}

const sandbox::DecisionNote* RefusalIn(const Evidence& evidence) {
  const bool is_refused = std::holds_alternative<sandbox::Denied>(evidence.result.outcome) ||
                          std::holds_alternative<sandbox::NeedsApproval>(evidence.result.outcome) ||
                          WasStopped(evidence);
  return is_refused && evidence.result.decision ? &*evidence.result.decision : nullptr;
}

// Room for a list of the commands that are allowed.
constexpr std::size_t kLongestSentence = 1000;

std::string Sentence(std::string_view text) {
  std::string sentence = Printable(text);
  if (sentence.size() > kLongestSentence) {
    sentence.resize(WholeUtf8Length(std::string_view(sentence).substr(0, kLongestSentence)));
    sentence += "...";
  }
  if (sentence.front() >= 'a' && sentence.front() <= 'z')
    sentence.front() = static_cast<char>(sentence.front() - 'a' + 'A');
  if (sentence.back() != '.') sentence += '.';
  return sentence;
}

}  // namespace

std::optional<Hint> DeniedByPolicy(const Evidence& evidence) {
  const sandbox::DecisionNote* refusal = RefusalIn(evidence);
  if (refusal == nullptr || refusal->rule == kUnknownShell) return std::nullopt;
  if (WasStopped(evidence)) {
    return Hint{.code = "denied_by_policy",
                .message = "The policy does not allow it any more: " + Sentence(refusal->reason),
                .suggestion = "Look at what it did so far; begin again when it is allowed."};
  }
  const bool asks = std::holds_alternative<sandbox::NeedsApproval>(evidence.result.outcome);
  return Hint{.code = "denied_by_policy",
              .message = std::string(asks ? "The policy wants somebody to be asked" : "The policy does not allow it") +
                         " (rule " + Named(refusal->rule) + ").",
              .suggestion = refusal->alternative.empty() ? "Do without it, or ask who gave you the sandbox to allow it."
                                                         : Sentence(refusal->alternative)};
}

std::optional<Hint> TooComplexCommand(const Evidence& evidence) {
  const sandbox::DecisionNote* refusal = RefusalIn(evidence);
  if (refusal == nullptr || refusal->rule != kUnknownShell) return std::nullopt;
  return Hint{.code = "too_complex_command",
              .message = "It cannot be told which programs this text starts before it runs.",
              .suggestion = refusal->alternative.empty() ? "Write each command with its name in plain letters."
                                                         : Sentence(refusal->alternative)};
}

}  // namespace caisson::hint
