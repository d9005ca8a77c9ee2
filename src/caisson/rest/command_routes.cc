#include <boost/json.hpp>
#include <utility>

#include "caisson/rest/command_end.h"
#include "caisson/rest/infos_json.h"
#include "caisson/rest/query.h"
#include "caisson/rest/requests_json.h"
#include "caisson/rest/routes.h"

namespace caisson::rest {
Result<Answer> StartCommand(const Node& node, const Request& request) {
  CAISSON_CHECK_OK(QueryReader(request.query).Finish());
  CAISSON_TRY(const StartRequest start, ReadStart(request.body));
  CAISSON_TRY(service::CommandInfo info, node.service.StartCommand(request.caller, request.sandbox, start.command));
  if (start.run == Run::kAndWait) {
    return AwaitCommand(node.service, request.caller, std::move(info), NameCommand::kNo);
  }
  Reply reply = JsonReply(201, CommandObject(info));
  reply.fields.emplace_back("Location", "/v1/sandboxes/" + info.sandbox.text() + "/commands/" + info.id);
  return reply;
}

Result<Answer> ListCommands(const Node& node, const Request& request) {
  CAISSON_CHECK_OK(QueryReader(request.query).Finish());
  CAISSON_TRY(const std::vector<service::CommandInfo> commands,
              node.service.ListCommands(request.caller, request.sandbox));
  boost::json::array items;
  for (const service::CommandInfo& info : commands) items.push_back(CommandObject(info));
  return JsonReply(200, boost::json::object{{"items", std::move(items)}});
}

Result<Answer> GetCommand(const Node& node, const Request& request) {
  CAISSON_CHECK_OK(QueryReader(request.query).Finish());
  CAISSON_TRY(const service::CommandInfo info,
              node.service.GetCommand(request.caller, request.sandbox, request.command));
  boost::json::object object = CommandObject(info);
  object["result"] = nullptr;
  if (info.state == service::CommandState::kEnded) {
    CAISSON_TRY(const service::StepResult step,
                node.service.ResultOf(request.caller, request.sandbox, request.command));
    object["result"] = StepObject(step);
  }
  return JsonReply(200, object);
}

Result<Answer> CancelCommand(const Node& node, const Request& request) {
  CAISSON_CHECK_OK(QueryReader(request.query).Finish());
  CAISSON_CHECK_OK(node.service.Cancel(request.caller, request.sandbox, request.command));
  CAISSON_TRY(const service::CommandInfo info,
              node.service.GetCommand(request.caller, request.sandbox, request.command));
  return JsonReply(200, CommandObject(info));
}

Result<Answer> SignalCommand(const Node& node, const Request& request) {
  CAISSON_CHECK_OK(QueryReader(request.query).Finish());
  CAISSON_TRY(const int signal, ReadSignal(request.body));
  CAISSON_CHECK_OK(node.service.Signal(request.caller, request.sandbox, request.command, signal));
  return Reply{.status = 204, .content_type = {}, .fields = {}, .body = {}};
}

// The input is closed only when all of the body was accepted: what was not can still be sent.
Result<Answer> WriteInput(const Node& node, const Request& request) {
  QueryReader query(request.query);
  const bool close = query.Switch("close", false);
  CAISSON_CHECK_OK(query.Finish());
  std::size_t accepted = 0;
  if (!request.body.empty()) {
    CAISSON_TRY(accepted, node.service.WriteInput(request.caller, request.sandbox, request.command, request.body));
  }
  if (close && accepted == request.body.size()) {
    const Status closed = node.service.CloseInput(request.caller, request.sandbox, request.command);
    // With what it was given it may have ended already: then nothing is open any more.
    const bool may_be_closed = accepted > 0;
    if (!closed && !(may_be_closed && closed.error().code() == Code::kConflict)) return Fail(closed.error());
  }
  return JsonReply(200, boost::json::object{{"accepted_bytes", accepted}});
}

}  // namespace caisson::rest
