#include <boost/json.hpp>
#include <utility>

#include "caisson/rest/command_end.h"
#include "caisson/rest/infos_json.h"
#include "caisson/rest/query.h"
#include "caisson/rest/routes.h"
#include "caisson/tool/read_call.h"

namespace caisson::rest {

namespace {

Result<Answer> RunCommand(const Node& node, const Request& request, const tool::RunCommand& call) {
  CAISSON_TRY(service::ToolStep step, node.service.RunTool(request.caller, request.sandbox, call));
  // What was refused has its result at once.
  if (!call.is_background || step.command.state == service::CommandState::kEnded) {
    return AwaitCommand(node.service, request.caller, std::move(step.command), NameCommand::kYes);
  }
  service::StepResult begun{.sandbox = step.command.sandbox,
                            .step = step.command.step,
                            .command_id = step.command.id,
                            .result = {},
                            .hints = {}};
  begun.result.outcome = sandbox::Completed{};
  begun.result.decision = std::move(step.decision);
  return JsonReply(200, ToolStepObject(begun));
}

}  // namespace

Result<Answer> CallTool(const Node& node, const Request& request) {
  CAISSON_CHECK_OK(QueryReader(request.query).Finish());
  CAISSON_TRY(const tool::Call call, tool::ReadCall(request.tool, request.body));
  if (const auto* command = std::get_if<tool::RunCommand>(&call)) return RunCommand(node, request, *command);
  CAISSON_TRY(const service::StepResult step, node.service.CallTool(request.caller, request.sandbox, call));
  return JsonReply(200, StepObject(step));
}

}  // namespace caisson::rest
