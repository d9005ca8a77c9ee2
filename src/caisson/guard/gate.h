#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "caisson/guard/program_source.h"
#include "caisson/guard/use_ledger.h"
#include "caisson/plan/launch_plan.h"
#include "caisson/policy/compile.h"
#include "caisson/policy/decide.h"
#include "caisson/policy/policy.h"
#include "caisson/sandbox/sandbox.h"

namespace caisson::guard {

// How a sandbox must be made for a policy to hold.
plan::Execution ExecutionFor(const policy::Policy& policy);

// What this kernel offers of what policies rest on.
policy::KernelFeatures KernelFeaturesHere();

// What a result says of a decision.
sandbox::DecisionNote NoteOf(const policy::Decision& decision);

// What runs a call: its own words, or `shell` with its text.
std::vector<std::string> ArgvOf(const policy::CommandCall& call, const std::string& shell);

// The moment to decide at.
policy::Time Now();

// When a command that a policy let run has to end all the same, and what its result says of the decision then.
struct Stop {
  policy::Time at{};
  sandbox::DecisionNote note;
};

// Decides what the commands of one sandbox may do under one policy, and confines those that may run. Thread-safe.
class Gate {
 public:
  // `ledger` and `programs` outlive it. Errors: kUnsupported, naming what the kernel cannot hold of the policy.
  static Result<std::unique_ptr<Gate>> Make(policy::Policy policy, UseLedger& ledger, ProgramSource& programs);

  const policy::Policy& policy() const { return policy_; }

  struct Admission {
    policy::Decision decision;
    // Set when the call is allowed: to be started in that sandbox. Its argv, variables and plan are the call's, the
    // rest as it was given.
    std::optional<sandbox::CommandSpec> spec;
    std::optional<Stop> stop;  // the caller's to carry out
  };
  // Uses that the call takes are counted when this returns. `spec`: what the call does not say. Errors: kUnsupported
  // (no bash in the image for a text; a program that cannot be held), those of the ledger and of looking into the
  // sandbox.
  Result<Admission> Admit(const policy::CommandCall& call, const sandbox::CommandSpec& spec, sandbox::Sandbox& sandbox,
                          policy::Time now);

  // What a tool does to one file by itself. `actions`: all that it takes.
  struct FileAdmission {
    policy::Decision decision;                            // the strictest of them
    std::shared_ptr<const plan::KernelPlan> kernel_plan;  // of an allowed one; absent: nothing is to be held
  };
  Result<FileAdmission> AdmitFile(const std::vector<policy::Action>& actions, const std::string& path,
                                  sandbox::Sandbox& sandbox, policy::Time now);

  // Whether the rules let a file be read now, without spending a use.
  bool MayRead(const std::string& path, policy::Time now);

  // What an admission asks of a sandbox.
  struct Outlook {
    std::function<std::optional<std::string>(const std::string& path)> resolve;  // as of policy::Situation
    std::function<Result<ProgramSource::Index>()> programs;
  };
  Result<Admission> Admit(const policy::CommandCall& call, const sandbox::CommandSpec& spec, const Outlook& outlook,
                          policy::Time now);
  Result<FileAdmission> AdmitFile(const std::vector<policy::Action>& actions, const std::string& path,
                                  const Outlook& outlook, policy::Time now);

 private:
  using SharedPlan = std::shared_ptr<const plan::KernelPlan>;  // shared with the commands under it

  Gate(policy::Policy policy, UseLedger& ledger, ProgramSource& programs)
      : policy_(std::move(policy)), ledger_(ledger), programs_(programs) {}
  // Decides, and counts what an allowed call uses.
  Result<policy::Decision> Decide(const std::function<policy::Decision()>& decide);
  // With the uses of the ledger; what keeps it from telling them goes to `failed`.
  policy::Situation SituationAt(policy::Time now, const Outlook& outlook, std::optional<Error>* failed);
  Outlook OutlookOn(sandbox::Sandbox& sandbox);
  // `failed`: what kept the situation from telling uses.
  Result<SharedPlan> PlanFor(const ProgramSource::Index& index, const policy::Situation& situation,
                             const std::vector<const policy::Rule*>& lent, const std::optional<Error>& failed);

  policy::Policy policy_;
  UseLedger& ledger_;
  ProgramSource& programs_;

  std::mutex plan_mutex_;  // what follows: the plan of calls that nothing is lent to
  SharedPlan plan_;
  ProgramSource::Index plan_index_;
  policy::Time plan_from_{};
  std::optional<policy::Time> plan_until_;
};

}  // namespace caisson::guard
