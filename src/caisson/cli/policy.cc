#include <algorithm>

#include "caisson/base/nearest_name.h"
#include "caisson/base/path_text.h"
#include "caisson/base/utf8.h"
#include "caisson/cli/commands.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/option_values.h"
#include "caisson/cli/policy_file.h"
#include "caisson/cli/policy_report.h"
#include "caisson/document/moment.h"
#include "caisson/guard/gate.h"
#include "caisson/policy/explain.h"
#include "caisson/template/load.h"

namespace caisson::cli {
namespace {

// What a verb has to say, and whether the answer is no.
struct Answer {
  std::string text;
  int status = kSuccess;
};

Error Misused(const std::string& what, const char* usage) {
  return Error(Code::kInvalidArgument, what)
      .Because("the command line says something else")
      .Remedy(std::string("write: caisson policy ") + usage);
}

Result<policy::Situation> SituationOf(const CommandLine& line) {
  policy::Situation situation;
  situation.now = guard::Now();
  const OptionValue* at = line.Find(Option::kAt);
  if (at == nullptr) return situation;
  const auto moment = document::ParseMoment(at->text);
  if (!moment) return Fail(Refused(at->source, at->text, "expected a time like 2026-03-01T09:30:00+01:00"));
  situation.now = *moment;
  return situation;
}

Result<Answer> Check(const CommandLine& line, const policy::Policy& policy) {
  if (line.operands.size() != 2) return Fail(Misused("policy check takes one policy", "check POLICY"));
  CAISSON_CHECK_OK(policy::CheckEnforceable(policy, guard::KernelFeaturesHere()));
  return Answer{line.Has(Option::kJson) ? PolicyJson(policy) : PolicyText(policy)};
}

Result<Answer> Show(const CommandLine& line, const policy::Policy& policy) {
  if (line.operands.size() != 2) return Fail(Misused("policy show takes one policy", "show POLICY"));
  return Answer{line.Has(Option::kJson) ? PolicyJson(policy) : policy.text()};
}

// A command text, an action with what it is done to, or the words of a command.
Result<policy::Decision> Decide(const CommandLine& line, const policy::Policy& policy,
                                const policy::Situation& situation) {
  std::vector<std::string> words(line.operands.begin() + 2, line.operands.end());
  const std::optional<policy::Action> action = policy::ActionOf(words.front());
  if (action && *action != policy::Action::kProcessExec) {
    const bool is_of_file = *action == policy::Action::kFileRead || *action == policy::Action::kFileWrite ||
                            *action == policy::Action::kFileDelete;
    const std::string resource = words.size() > 1 ? words[1] : std::string();
    if (!is_of_file) return policy::DecideOther(policy, *action, resource, situation);
    if (!resource.starts_with('/')) {
      return Fail(Misused("an action on a file needs an absolute path", "explain POLICY file.read /PATH"));
    }
    return policy::DecideFile(policy, *action, NormalPath("/", resource), situation);
  }
  if (action) words.erase(words.begin());
  if (words.empty()) return Fail(Misused("process.exec needs a command", "explain POLICY process.exec 'COMMAND TEXT'"));
  policy::CommandCall call;
  CAISSON_TRY(call.env, ReadVariables(line));
  if (const OptionValue* cwd = line.Find(Option::kCwd)) {
    if (!cwd->text.starts_with('/')) return Fail(Refused(cwd->source, cwd->text, "expected an absolute path"));
    call.cwd = cwd->text;
  }
  if (words.size() == 1) {
    call.text = words.front();
  } else {
    call.argv = words;
  }
  return policy::DecideCommand(policy, call, situation);
}

Result<Answer> ExplainCall(const CommandLine& line, const policy::Policy& policy) {
  if (line.operands.size() < 3) {
    return Fail(Misused("policy explain needs something to decide", "explain POLICY 'COMMAND TEXT'"));
  }
  CAISSON_TRY(const policy::Situation situation, SituationOf(line));
  CAISSON_TRY(const policy::Decision decision, Decide(line, policy, situation));
  return Answer{line.Has(Option::kJson) ? DecisionJson(decision) : policy::Explain(policy, decision),
                decision.effect == policy::Effect::kAllow ? kSuccess : kNegativeAnswer};
}

Result<Answer> Test(const CommandLine& line, const policy::Policy& policy) {
  if (line.operands.size() != 3) {
    return Fail(Misused("policy test takes a policy and a file of commands", "test POLICY FILE"));
  }
  CAISSON_TRY(const policy::Situation situation, SituationOf(line));
  CAISSON_TRY(const templates::LoadedText file, templates::LoadText(line.operands[2]));
  CAISSON_TRY(const std::vector<PolicyCase> cases, ReadPolicyCases(file.text, line.operands[2]));
  const std::vector<CaseResult> results = TryPolicyCases(policy, cases, situation);
  const bool hold = std::all_of(results.begin(), results.end(), [](const CaseResult& one) { return one.holds(); });
  return Answer{line.Has(Option::kJson) ? CasesJson(results) : CasesText(results), hold ? kSuccess : kNegativeAnswer};
}

struct Verb {
  const char* name;
  Result<Answer> (*answer)(const CommandLine&, const policy::Policy&);
};
constexpr Verb kVerbs[] = {{"check", Check}, {"explain", ExplainCall}, {"show", Show}, {"test", Test}};

Error UnknownVerb(const std::string& verb) {
  std::vector<std::string> names;
  for (const Verb& known : kVerbs) names.emplace_back(known.name);
  const auto nearest = NearestName(verb, names);
  return Error(Code::kInvalidArgument, "policy does not know " + Quoted(verb))
      .Because(nearest ? "the nearest it knows is " + *nearest : "it knows check, explain, show and test")
      .Remedy("see `caisson policy --help`");
}

}  // namespace

int PolicyCommand(const CommandLine& line) {
  const Format format = line.Has(Option::kJson) ? Format::kJson : Format::kText;
  const auto fail = [format](const Error& error, int status) {
    PrintError(error, format);
    return status;
  };
  const std::string& name = line.operands.front();
  const auto* verb =
      std::find_if(std::begin(kVerbs), std::end(kVerbs), [&](const Verb& one) { return name == one.name; });
  if (verb == std::end(kVerbs)) return fail(UnknownVerb(name), kUsageError);
  if (line.operands.size() < 2) {
    return fail(Misused("policy " + name + " needs a policy", (name + " POLICY").c_str()), kUsageError);
  }
  const Result<policy::Policy> policy = LoadPolicy(line.operands[1]);
  const bool is_check = verb->answer == Check;
  if (!policy) return fail(policy.error(), is_check ? kNegativeAnswer : kFailed);
  const Result<Answer> answer = verb->answer(line, *policy);
  if (answer) return PrintOrFail(answer->text, answer->status, kFailed);
  const bool is_misuse = answer.error().code() == Code::kInvalidArgument;
  return fail(answer.error(), is_misuse ? kUsageError : is_check ? kNegativeAnswer : kFailed);
}

}  // namespace caisson::cli
