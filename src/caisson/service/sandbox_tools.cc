// The part of SandboxOwner that follows the sandbox's policy.

#include <utility>

#include "caisson/service/sandbox_owner.h"

namespace caisson::service {
namespace {

using std::chrono::seconds;

// Longer than anything that holds the sandbox without waiting for a program of it.
constexpr seconds kStepPatience{15};

// What it would be started as, to be looked over before the policy is asked: what a rule gives once must not be given
// to a call that cannot run.
sandbox::CommandSpec DraftOf(const tool::RunCommand& call, sandbox::CommandSpec spec) {
  spec.argv = guard::ArgvOf({.text = call.command, .argv = call.argv, .env = {}}, "bash");
  spec.env.insert(spec.env.end(), call.env.begin(), call.env.end());
  if (call.cwd) spec.cwd = *call.cwd;
  return spec;
}

Status Check(const tool::RunCommand& call, const sandbox::CommandSpec& draft) {
  if (!draft.cwd.starts_with('/')) {
    return Fail(Error(Code::kInvalidArgument, "the folder a command starts in is not absolute")
                    .Remedy("write it from the root, for example /home/agent/workspace"));
  }
  if (call.command.has_value() != call.argv.empty()) {
    return Fail(Error(Code::kInvalidArgument, "a call of run_command has either a command or an argv")
                    .Because(call.command ? "it has both" : "it has neither")
                    .Remedy("give a text for bash as command, or a program and its arguments as argv"));
  }
  return sandbox::Sandbox::Check(draft);
}

}  // namespace

sandbox::Outcome SandboxOwner::RefusalOf(const policy::Decision& decision, sandbox::DecisionNote& note) {
  if (decision.effect == policy::Effect::kDeny) return sandbox::Denied{};
  note.reason += (note.reason.empty() ? "" : "; ") + std::string("nobody can approve it yet");
  return sandbox::NeedsApproval{.id = "ap_" + SandboxId::Random().text().substr(3)};
}

Result<ToolStep> SandboxOwner::RunTool(const Caller& caller, const tool::RunCommand& call) {
  const sandbox::CommandSpec bare = BareSpec(call.timeout);
  const sandbox::CommandSpec draft = DraftOf(call, bare);
  CAISSON_CHECK_OK(Check(call, draft));
  CAISSON_TRY(const std::shared_lock lock, Enter());
  const ActivityMark mark(*this);
  CAISSON_TRY(auto seats, AdmitCommand());
  CAISSON_TRY(guard::Gate* const gate, gate_.Get());
  return RunUnder(*gate, caller,
                  {.call = {.text = call.command, .argv = call.argv, .env = call.env, .cwd = draft.cwd},
                   .bare = bare,
                   .draft = draft,
                   .stdin_bytes = call.stdin_bytes},
                  std::move(seats));
}

Result<ToolStep> SandboxOwner::StartUnder(const CheckedPolicy& policy, const Caller& caller,
                                          const CommandRequest& request, std::vector<CommandSeats::Seat> seats) {
  if (request.user == sandbox::User::kRoot) {
    return Fail(Error(Code::kInvalidArgument, "a command under a policy cannot run as root")
                    .Because("a policy other than open is for the user agent")
                    .Remedy("leave one out"));
  }
  CAISSON_CHECK_OK(CheckExecution(description_.settings.execution, policy.policy));
  RecordedUses uses(node_.database, id(), policy.policy.digest());
  CAISSON_TRY(const auto gate, guard::Gate::Make(policy.policy, uses, gate_.programs()));
  const sandbox::CommandSpec draft = SpecOf(request);
  sandbox::CommandSpec bare = BareSpec(request.timeout);
  bare.report_changes = request.report_changes;
  return RunUnder(*gate, caller,
                  {.call = {.text = {}, .argv = request.argv, .env = request.env, .cwd = draft.cwd},
                   .bare = std::move(bare),
                   .draft = draft,
                   .input = InputOf(request),
                   .stdin_bytes = request.stdin_bytes},
                  std::move(seats));
}

Result<ToolStep> SandboxOwner::RunUnder(guard::Gate& gate, const Caller& caller, const GatedCall& gated,
                                        std::vector<CommandSeats::Seat> seats) {
  auto admission = gate.Admit(gated.call, gated.bare, *box_, node_.time_of_day());
  if (!admission) return Fail(is_ending_ ? AsItEnds() : std::move(admission).error());
  sandbox::DecisionNote note = guard::NoteOf(admission->decision);
  std::optional<sandbox::Outcome> refused;
  if (!admission->spec) refused = RefusalOf(admission->decision, note);
  CAISSON_TRY(const Step step, TakeStep(caller, admission->spec ? *admission->spec : gated.draft,
                                        {.decision = note, .stop = std::move(admission->stop)}, std::move(seats)));
  CAISSON_TRY(CommandInfo info, InfoOf(step.record));
  if (refused) {
    info.state = CommandState::kEnded;
    info.outcome = std::string(sandbox::OutcomeName(*refused));
    sandbox::CommandResult result;
    result.outcome = *std::move(refused);
    Record(*step.command, std::move(result));
  } else {
    StartStep(step, gated.input, gated.stdin_bytes);
  }
  ForgetEnded();
  return ToolStep{.command = std::move(info), .decision = std::move(note)};
}

Status SandboxOwner::SetPolicy(const Caller& caller, const CheckedPolicy& policy, RunningCommands running) {
  const std::unique_lock lock(life_, kStepPatience);
  if (!lock) return Fail(Error(Code::kConflict, "the sandbox is busy").Retryable());
  if (is_ending_ || is_gone_) return Fail(AsItEnds());
  CAISSON_CHECK_OK(CheckExecution(description_.settings.execution, policy.policy));
  CAISSON_CHECK_OK(RecordPolicy(node_, id(), policy.record, caller.name));
  gate_.Forget();
  if (running == RunningCommands::kFinish) return {};
  const guard::Stop stop{.at = node_.time_of_day(),
                         .note = {.effect = std::string(policy::EffectName(policy::Effect::kDeny)),
                                  .rule = "default",
                                  .source = policy.policy.name(),
                                  .reason = "the sandbox was given another policy, and what ran under the one before "
                                            "was stopped"}};
  for (const auto& command : Commands()) command->SetStop(stop);
  StopWhatIsDue();
  return {};
}

}  // namespace caisson::service
