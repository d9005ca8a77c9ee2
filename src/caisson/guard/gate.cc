#include "caisson/guard/gate.h"

#include <chrono>
#include <map>

#include "caisson/base/utf8.h"
#include "caisson/os/landlock.h"
#include "caisson/policy/moment_text.h"
#include "caisson/sandbox/files.h"

namespace caisson::guard {
namespace {

constexpr int kAbiOfTruncation = 3;
// A claim that fails was lost to another caller, who used the rule up: the next decision knows.
constexpr int kMostDecisions = 100;

std::vector<UseLedger::Claim> ClaimsOf(const policy::Decision& decision) {
  std::map<const policy::Rule*, std::uint32_t> counts;
  for (const policy::Rule* rule : decision.lent) {
    if (rule->max_uses) ++counts[rule];
  }
  std::vector<UseLedger::Claim> claims;
  for (const auto& [rule, count] : counts) {
    claims.push_back({.rule = rule->name, .most = rule->max_uses.value_or(0), .count = count});
  }
  return claims;
}

std::optional<Stop> EarlierOf(const std::optional<policy::Stop>& one, const std::optional<policy::Stop>& other) {
  const auto& first = !one || (other && other->at < one->at) ? other : one;
  if (!first) return std::nullopt;
  return Stop{.at = first->at,
              .note = {.effect = std::string(policy::EffectName(policy::Effect::kDeny)),
                       .rule = first->rule->name,
                       .source = first->rule->source,
                       .reason = "the rule " + Quoted(first->rule->name) + " ended at " +
                                 policy::MomentText(first->at) + ", and what rested on it was stopped"}};
}

Result<std::string> ShellOf(const os::ProgramIndex& index) {
  const auto shell = index.by_name.find("bash");
  if (shell != index.by_name.end()) return shell->second.path;
  return Fail(
      Error(Code::kUnsupported, "the image has no bash, which shell text is for").Remedy("give the command as argv"));
}

}  // namespace

plan::Execution ExecutionFor(const policy::Policy& policy) {
  return policy::ExecutionOf(policy) == policy::Execution::kNamed ? plan::Execution::kProgramFolders
                                                                  : plan::Execution::kAnywhere;
}

policy::KernelFeatures KernelFeaturesHere() { return {.controls_truncation = os::LandlockAbi() >= kAbiOfTruncation}; }

sandbox::DecisionNote NoteOf(const policy::Decision& decision) {
  return {.effect = std::string(policy::EffectName(decision.effect)),
          .rule = decision.rule,
          .source = decision.source,
          .reason = decision.reason,
          .alternative = decision.alternative};
}

// Privileged mode takes no functions, options or start-up files from the variables. Source: bash(1), -p.
std::vector<std::string> ArgvOf(const policy::CommandCall& call, const std::string& shell) {
  return call.text ? std::vector<std::string>{shell, "-p", "-c", *call.text} : call.argv;
}

policy::Time Now() { return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now()); }

Result<std::unique_ptr<Gate>> Gate::Make(policy::Policy policy, UseLedger& ledger, ProgramSource& programs) {
  CAISSON_CHECK_OK(policy::CheckEnforceable(policy, KernelFeaturesHere()));
  return std::unique_ptr<Gate>(new Gate(std::move(policy), ledger, programs));
}

Result<policy::Decision> Gate::Decide(const std::function<policy::Decision()>& decide) {
  for (int i = 0; i < kMostDecisions; ++i) {
    policy::Decision decision = decide();
    if (decision.effect != policy::Effect::kAllow) return decision;
    const std::vector<UseLedger::Claim> claims = ClaimsOf(decision);
    if (claims.empty()) return decision;
    CAISSON_TRY(const bool is_taken, ledger_.Take(claims));
    if (is_taken) return decision;
  }
  return Fail(Error(Code::kUnavailable, "the uses of a rule cannot be counted").Retryable());
}

Result<Gate::SharedPlan> Gate::PlanFor(const ProgramSource::Index& index, const policy::Situation& situation,
                                       const std::vector<const policy::Rule*>& lent,
                                       const std::optional<Error>& failed) {
  const std::lock_guard lock(plan_mutex_);
  const bool is_current = plan_ != nullptr && plan_index_ == index && situation.now >= plan_from_ &&
                          (!plan_until_ || situation.now < *plan_until_);
  if (lent.empty() && is_current) return plan_;
  CAISSON_TRY(std::optional<plan::KernelPlan> compiled, policy::Compile(policy_, *index, situation, lent));
  // A refusal whose uses cannot be told was left out.
  if (failed) return Fail(*failed);
  if (!compiled) return nullptr;
  auto plan = std::make_shared<const plan::KernelPlan>(*std::move(compiled));
  if (!lent.empty()) return plan;
  plan_ = plan;
  plan_index_ = index;
  plan_from_ = situation.now;
  plan_until_ = policy::NextChange(policy_, situation.now);
  return plan;
}

Gate::Outlook Gate::OutlookOn(sandbox::Sandbox& sandbox) {
  return {.resolve = [&sandbox](const std::string& path) -> std::optional<std::string> {
            Result<std::string> led = sandbox::Files(sandbox).Follow(path);
            return led ? std::optional(*std::move(led)) : std::nullopt;
          },
          .programs = [this, &sandbox] { return programs_.Find(sandbox); }};
}

policy::Situation Gate::SituationAt(policy::Time now, const Outlook& outlook, std::optional<Error>* failed) {
  policy::Situation situation;
  situation.now = now;
  situation.uses = [this, failed](const policy::Rule& rule) {
    const Result<std::uint32_t> used = ledger_.Used(rule.name);
    if (used) return *used;
    *failed = used.error();
    return UINT32_MAX;
  };
  situation.resolve = outlook.resolve;
  return situation;
}

Result<Gate::FileAdmission> Gate::AdmitFile(const std::vector<policy::Action>& actions, const std::string& path,
                                            sandbox::Sandbox& sandbox, policy::Time now) {
  return AdmitFile(actions, path, OutlookOn(sandbox), now);
}

Result<Gate::FileAdmission> Gate::AdmitFile(const std::vector<policy::Action>& actions, const std::string& path,
                                            const Outlook& outlook, policy::Time now) {
  std::optional<Error> failed;
  const policy::Situation situation = SituationAt(now, outlook, &failed);
  const auto decide = [&] {
    policy::Decision strictest;
    for (std::size_t i = 0; i < actions.size(); ++i) {
      policy::Decision decision = policy::DecideFile(policy_, actions[i], path, situation);
      if (i == 0 || decision.effect > strictest.effect) {
        decision.lent.insert(decision.lent.end(), strictest.lent.begin(), strictest.lent.end());
        strictest = std::move(decision);
      } else {
        strictest.lent.insert(strictest.lent.end(), decision.lent.begin(), decision.lent.end());
      }
    }
    return strictest;
  };
  CAISSON_TRY(policy::Decision decision, Decide(decide));
  if (failed) return Fail(*std::move(failed));
  FileAdmission admission{.decision = std::move(decision), .kernel_plan = nullptr};
  if (admission.decision.effect != policy::Effect::kAllow || policy_.allows_everything()) return admission;
  CAISSON_TRY(const ProgramSource::Index index, outlook.programs());
  CAISSON_TRY(admission.kernel_plan, PlanFor(index, situation, admission.decision.lent, failed));
  return admission;
}

bool Gate::MayRead(const std::string& path, policy::Time now) {
  std::optional<Error> failed;
  const policy::Situation situation = SituationAt(now, {}, &failed);
  const policy::Decision decision = policy::DecideFile(policy_, policy::Action::kFileRead, path, situation);
  return !failed && decision.effect == policy::Effect::kAllow;
}

Result<Gate::Admission> Gate::Admit(const policy::CommandCall& call, const sandbox::CommandSpec& spec,
                                    sandbox::Sandbox& sandbox, policy::Time now) {
  return Admit(call, spec, OutlookOn(sandbox), now);
}

Result<Gate::Admission> Gate::Admit(const policy::CommandCall& call, const sandbox::CommandSpec& spec,
                                    const Outlook& outlook, policy::Time now) {
  std::optional<Error> failed;
  const policy::Situation situation = SituationAt(now, outlook, &failed);
  CAISSON_TRY(policy::Decision decision, Decide([&] { return policy::DecideCommand(policy_, call, situation); }));
  if (failed) return Fail(*std::move(failed));
  Admission admission{.decision = std::move(decision), .spec = std::nullopt, .stop = std::nullopt};
  if (admission.decision.effect != policy::Effect::kAllow) return admission;

  sandbox::CommandSpec admitted = spec;
  admitted.cwd = call.cwd;
  if (policy_.allows_everything()) {
    admitted.argv = ArgvOf(call, "bash");
  } else {
    CAISSON_TRY(const ProgramSource::Index index, outlook.programs());
    std::string shell;
    if (call.text) {
      CAISSON_TRY(shell, ShellOf(*index));
    }
    admitted.argv = ArgvOf(call, shell);
    CAISSON_TRY(admitted.kernel_plan, PlanFor(index, situation, admission.decision.lent, failed));
    // The image's own folders alone: what a command puts into its home must not stand for a program.
    admitted.env.emplace_back("PATH", os::SearchPath());
  }
  admitted.env.insert(admitted.env.end(), call.env.begin(), call.env.end());
  admission.spec = std::move(admitted);
  admission.stop = EarlierOf(admission.decision.stop, policy::StopOfFiles(policy_, now));
  return admission;
}

}  // namespace caisson::guard
