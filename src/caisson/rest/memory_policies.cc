// The part of MemoryService that is about policies and tools.

#include <sstream>
#include <utility>

#include "caisson/rest/memory_service.h"
#include "caisson/rest/memory_state.h"

namespace caisson::rest {

Result<service::PolicyInfo> MemoryService::GetPolicy(const service::Caller& caller, std::string_view sandbox) {
  std::unique_lock lock(shared_->mutex);
  CAISSON_CHECK_OK(Find(caller, sandbox, lock));
  return shared_->policy;
}

Result<service::PolicyInfo> MemoryService::SetPolicy(const service::Caller& caller, std::string_view sandbox,
                                                     const service::PolicyChange& change) {
  const service::PolicyRequest& request = change.policy;
  std::unique_lock lock(shared_->mutex);
  CAISSON_CHECK_OK(Find(caller, sandbox, lock));
  shared_->policy = {
      .name = request.preset.value_or(request.name),
      .digest = std::string(64, 'a'),
      .origin = request.preset ? service::PolicyInfo::Origin::kPreset : service::PolicyInfo::Origin::kText,
      .format = request.format,
      .text = request.text};
  return shared_->policy;
}

Result<service::StepResult> MemoryService::CallTool(const service::Caller& caller, std::string_view sandbox,
                                                    const tool::Call& call) {
  std::unique_lock lock(shared_->mutex);
  CAISSON_CHECK_OK(Find(caller, sandbox, lock));
  service::StepResult step{.tool = std::string(tool::NameOf(call)),
                           .sandbox = SandboxId::Random(),
                           .step = 1,
                           .command_id = {},
                           .result = {},
                           .hints = {}};
  step.result.outcome = sandbox::Completed{};
  step.data = plan::ChangeList{};
  return step;
}

Result<service::ToolStep> MemoryService::RunTool(const service::Caller& caller, std::string_view sandbox,
                                                 const tool::RunCommand& call) {
  service::CommandRequest request{.argv = call.argv, .env = {}, .cwd = {}, .timeout = {}, .stdin_bytes = {}};
  std::istringstream words(call.command.value_or(""));
  for (std::string word; words >> word;) request.argv.push_back(word);
  CAISSON_TRY(service::CommandInfo info, StartCommand(caller, sandbox, request));
  const bool is_refused = request.argv.front() == "deny";
  sandbox::DecisionNote decision{
      .effect = is_refused ? "deny" : "allow", .rule = "memory", .source = "memory.toml:1", .reason = "so it is"};
  {
    const std::lock_guard lock(shared_->mutex);
    for (const auto& one : shared_->commands) {
      if (one->info.id == info.id) one->decision = decision;
    }
  }
  if (is_refused) {
    End(info.id, sandbox::Denied{});
    info.state = service::CommandState::kEnded;
  }
  return service::ToolStep{.command = std::move(info), .decision = std::move(decision)};
}

}  // namespace caisson::rest
