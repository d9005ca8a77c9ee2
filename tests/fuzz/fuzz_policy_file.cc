// A policy file that a stranger wrote, and what it decides of a command.
// Input: a byte that says the format (even: TOML), the file, the caller's folder, and a text for bash.

#include <string>

#include "caisson/policy/decide.h"
#include "caisson/policy/explain.h"
#include "caisson/policy/policy.h"
#include "caisson/policy/zone.h"
#include "fuzz/fuzz_input.h"

namespace {

using caisson::fuzz::Require;
namespace document = caisson::document;
namespace policy = caisson::policy;

const policy::Policy& Strict() {
  static const policy::Policy strict = policy::Policy::Preset("strict").value();
  return strict;
}

void RequireSense(const policy::Policy& rules, const policy::Decision& decision) {
  Require(!decision.reason.empty() && !decision.rule.empty(), "a decision says why");
  Require(decision.effect != policy::Effect::kDeny || decision.lent.empty(), "what is denied is lent nothing");
  Require(decision.findings.size() <= policy::kMostFindings, "findings are bounded");
  bool allows = rules.allows_everything() || decision.findings.empty();
  for (const policy::Finding& finding : decision.findings) {
    const bool allowed = finding.counts && finding.effect == policy::Effect::kAllow;
    allows = allows || allowed;
    Require(!finding.counts || finding.effect <= decision.effect, "the strictest finding decides");
  }
  Require(allows || decision.effect != policy::Effect::kAllow, "what is allowed was allowed by something");
  for (const char c : policy::Explain(rules, decision)) {
    Require(c == '\n' || (static_cast<unsigned char>(c) >= ' ' && c != 0x7F), "an explanation has no control byte");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  caisson::fuzz::Input input(data, size);
  const bool is_json = input.Take<std::uint8_t>() % 2 != 0;
  const document::Format format = is_json ? document::Format::kJson : document::Format::kToml;
  const std::string_view file = input.TakeText();
  policy::CommandCall call;
  call.cwd = "/" + std::string(input.TakeText());
  call.text = std::string(input.TakeRest());
  const policy::Situation situation;
  RequireSense(Strict(), policy::DecideCommand(Strict(), call, situation));

  const auto read = policy::Policy::Read(file, format, "fuzz", policy::SystemZones());
  if (!read) {
    Require(!read.error().message().empty(), "a refusal says why");
    return 0;
  }
  const policy::Decision decision = policy::DecideCommand(*read, call, situation);
  RequireSense(*read, decision);
  RequireSense(*read, policy::DecideFile(*read, policy::Action::kFileWrite, "/home/agent/x", situation));
  RequireSense(*read, policy::DecideOther(*read, policy::Action::kNetworkConnect, "a.example.org:443", situation));
  const auto again = policy::Policy::Read(read->text(), read->format(), "again", policy::SystemZones());
  Require(again && again->digest() == read->digest(), "the text of a policy gives an equal one");
  const auto next = policy::NextChange(*read, situation.now);
  Require(!next || *next > situation.now, "the next change lies ahead");
  return 0;
}
