#include <boost/json.hpp>
#include <utility>

#include "caisson/rest/command_end.h"
#include "caisson/rest/infos_json.h"
#include "caisson/rest/query.h"
#include "caisson/rest/requests_json.h"
#include "caisson/rest/routes.h"

namespace caisson::rest {

Result<Answer> RunCommandTool(const Node& node, const Request& request) {
  CAISSON_CHECK_OK(QueryReader(request.query).Finish());
  CAISSON_TRY(const ToolRequest tool, ReadToolCall(request.body));
  CAISSON_TRY(service::ToolStep step, node.service.RunTool(request.caller, request.sandbox, tool.call));
  // What was refused has its result at once.
  if (tool.run == Run::kAndWait || step.command.state == service::CommandState::kEnded) {
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

}  // namespace caisson::rest
