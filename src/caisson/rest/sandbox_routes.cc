#include <boost/json.hpp>

#include "caisson/rest/infos_json.h"
#include "caisson/rest/query.h"
#include "caisson/rest/requests_json.h"
#include "caisson/rest/routes.h"

namespace caisson::rest {
namespace {

using Change = Result<service::SandboxInfo> (service::Service::*)(const service::Caller&, std::string_view);

// What is done to one sandbox and answered with how it is then.
Result<Answer> Apply(const Node& node, const Request& request, Change change) {
  CAISSON_CHECK_OK(QueryReader(request.query).Finish());
  CAISSON_TRY(const service::SandboxInfo info, (node.service.*change)(request.caller, request.sandbox));
  return JsonReply(200, SandboxObject(info));
}

}  // namespace

Result<Answer> CreateSandbox(const Node& node, const Request& request) {
  CAISSON_CHECK_OK(QueryReader(request.query).Finish());
  CAISSON_TRY(const service::CreateRequest create, ReadCreate(request.body, request.idempotency_key));
  CAISSON_TRY(const service::SandboxInfo info, node.service.Create(request.caller, create));
  Reply reply = JsonReply(201, SandboxObject(info));
  reply.fields.emplace_back("Location", "/v1/sandboxes/" + info.id.text());
  return reply;
}

Result<Answer> ListSandboxes(const Node& node, const Request& request) {
  CAISSON_TRY(const service::ListRequest list, ReadList(request.query));
  CAISSON_TRY(const service::Page<service::SandboxInfo> page, node.service.List(request.caller, list));
  return JsonReply(200, SandboxPage(page));
}

Result<Answer> GetSandbox(const Node& node, const Request& request) {
  return Apply(node, request, &service::Service::Get);
}

Result<Answer> DeleteSandbox(const Node& node, const Request& request) {
  return Apply(node, request, &service::Service::Delete);
}

Result<Answer> PauseSandbox(const Node& node, const Request& request) {
  return Apply(node, request, &service::Service::Pause);
}

Result<Answer> ResumeSandbox(const Node& node, const Request& request) {
  return Apply(node, request, &service::Service::Resume);
}

Result<Answer> StopSandbox(const Node& node, const Request& request) {
  return Apply(node, request, &service::Service::Stop);
}

Result<Answer> ListChanges(const Node& node, const Request& request) {
  CAISSON_CHECK_OK(QueryReader(request.query).Finish());
  CAISSON_TRY(const plan::ChangeList list, node.service.Changes(request.caller, request.sandbox));
  return JsonReply(200, ChangesObject(list));
}

}  // namespace caisson::rest
