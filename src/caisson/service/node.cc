#include "caisson/service/node.h"

#include <signal.h>

#include <chrono>
#include <utility>

#include "caisson/sandbox/command_output.h"
#include "caisson/service/records.h"

namespace caisson::service {

UnixMs Now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

policy::Time TimeOfDay() { return policy::Time(std::chrono::milliseconds(Now())); }

Status Permit(const Caller& caller, Permission permission) {
  if (Includes(caller.permissions, permission)) return {};
  return Fail(Error(Code::kPermissionDenied, caller.name + " may not do this"));
}

std::string NameOf(sandbox::Lifecycle state) { return std::string(sandbox::LifecycleName(state)); }

Error IsAs(const state::SandboxRecord& record) {
  Error error =
      Error(Code::kConflict, "the sandbox is " + record.state).Because(record.reason).Detail("state", record.state);
  const bool is_stopped = record.state == sandbox::LifecycleName(sandbox::Lifecycle::kStopped);
  return is_stopped ? std::move(error).Remedy("start it anew with its files: caisson resume") : error;
}

Error NoCapacity(std::string what, std::chrono::milliseconds retry_after) {
  return Error(Code::kResourceExhausted, std::move(what))
      .Remedy("try again a little later, or delete what is not needed")
      .Detail("retry_after_ms", std::to_string(retry_after.count()))
      .Retryable();
}

Status RecordState(Node& node, const state::StateChange& change, const std::string& caller) {
  const auto recorded = node.database.ChangeState(change, {.time = change.at,
                                                           .type = "sandbox." + change.to,
                                                           .sandbox = change.id.text(),
                                                           .caller = caller,
                                                           .detail = change.reason});
  if (!recorded) return Fail(recorded.error());
  node.events.Tell();
  return {};
}

Status RecordPolicy(Node& node, const SandboxId& id, const state::PolicyRecord& policy, const std::string& caller) {
  const auto recorded = node.database.SetPolicy(id, policy,
                                                {.time = Now(),
                                                 .type = "sandbox.policy_changed",
                                                 .sandbox = id.text(),
                                                 .caller = caller,
                                                 .detail = policy.name.name + " " + policy.name.digest});
  if (!recorded) return Fail(recorded.error());
  node.events.Tell();
  return {};
}

sandbox::CommandResult LostResult() {
  sandbox::CommandResult result;
  result.outcome = sandbox::Signaled{SIGKILL};
  return result;
}

Status RecordEnd(Node& node, const state::CommandEnd& end, const state::EventRecord& event) {
  const auto recorded = node.database.EndCommand(end, event);
  if (recorded) {
    node.events.Tell();
    return {};
  }
  const Code code = recorded.error().code();
  if (code == Code::kConflict || code == Code::kNotFound) return {};
  return Fail(recorded.error());
}

Status RecordLost(Node& node, const state::CommandRecord& command, const std::string& why) {
  const UnixMs at = Now();
  sandbox::CommandResult lost = LostResult();
  if (auto settings = ReadCommandSettings(command.spec)) lost.decision = std::move(settings->decision);
  return RecordEnd(node,
                   {.id = command.id,
                    .at = at,
                    .summary = WriteSummary(lost.outcome),
                    .result = WriteResult(lost, {}),
                    .spool_bytes = sandbox::CommandOutput::DiskBytes(node.sandboxes.spool_directory(), command.id)},
                   {.time = at,
                    .type = "command.ended",
                    .sandbox = command.sandbox.text(),
                    .command = command.id,
                    .caller = kDaemon,
                    .detail = why});
}

}  // namespace caisson::service
