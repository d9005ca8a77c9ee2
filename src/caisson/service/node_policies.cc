// The part of NodeService that is about policies, and what follows them.

#include <utility>

#include "caisson/service/node_service.h"
#include "caisson/service/sandbox_policy.h"

namespace caisson::service {

Result<ToolStep> NodeService::RunTool(const Caller& caller, std::string_view sandbox, const tool::RunCommand& call) {
  CAISSON_TRY(const auto owner, OwnerOf(caller, Permission::kRunCommands, sandbox));
  return owner->RunTool(caller, call);
}

Result<StepResult> NodeService::CallTool(const Caller& caller, std::string_view sandbox, const tool::Call& call) {
  CAISSON_TRY(const auto owner, OwnerOf(caller, Permission::kRunCommands, sandbox));
  return owner->CallTool(caller, call);
}

Result<PolicyInfo> NodeService::GetPolicy(const Caller& caller, std::string_view sandbox) {
  CAISSON_CHECK_OK(Permit(caller, Permission::kReadSandboxes));
  CAISSON_TRY(const SandboxId id, Resolve(sandbox));
  CAISSON_CHECK_OK(node_.database.GetSandbox(id));
  CAISSON_TRY(const auto record, node_.database.GetPolicy(id));
  if (!record) return Fail(Error(Code::kInternal, "the database holds no policy of the sandbox"));
  return InfoOf(*record);
}

Result<PolicyInfo> NodeService::SetPolicy(const Caller& caller, std::string_view sandbox, const PolicyChange& change) {
  CAISSON_CHECK_OK(Permit(caller, Permission::kManageSandboxes));
  CAISSON_TRY(const SandboxId id, Resolve(sandbox));
  CAISSON_TRY(const CheckedPolicy policy, CheckPolicy(change.policy));
  if (const auto owner = FindOwner(id)) {
    CAISSON_CHECK_OK(owner->SetPolicy(caller, policy, change.running));
    return InfoOf(policy.record);
  }
  CAISSON_TRY(const state::SandboxRecord record, node_.database.GetSandbox(id));
  if (record.state != NameOf(sandbox::Lifecycle::kStopped)) return Fail(IsAs(record));
  CAISSON_TRY(const Settings settings, ReadSettings(record.spec));
  CAISSON_CHECK_OK(CheckExecution(settings.execution, policy.policy));
  CAISSON_CHECK_OK(RecordPolicy(node_, id, policy.record, caller.name));
  // It was started again meanwhile, and may follow what was recorded before.
  if (const auto owner = FindOwner(id)) CAISSON_CHECK_OK(owner->SetPolicy(caller, policy, change.running));
  return InfoOf(policy.record);
}

}  // namespace caisson::service
