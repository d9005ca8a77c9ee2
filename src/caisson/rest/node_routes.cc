#include <boost/json.hpp>

#include "caisson/rest/problem.h"
#include "caisson/rest/query.h"
#include "caisson/rest/routes.h"

namespace caisson::rest {

Result<Answer> Health(const Node&, const Request& request) {
  CAISSON_CHECK_OK(QueryReader(request.query).Finish());
  return JsonReply(200, boost::json::object{{"status", "ok"}});
}

Result<Answer> Readiness(const Node& node, const Request& request) {
  CAISSON_CHECK_OK(QueryReader(request.query).Finish());
  const std::string reason = node.service.NotReady();
  if (reason.empty()) return JsonReply(200, boost::json::object{{"status", "ready"}});
  return Fail(Error(Code::kUnavailable, "sandboxes cannot be made now").Because(reason).Retryable());
}

Result<Answer> Description(const Node& node, const Request& request) {
  CAISSON_CHECK_OK(QueryReader(request.query).Finish());
  return Reply{.status = 200, .content_type = "application/json", .fields = {}, .body = std::string(node.openapi)};
}

Result<Answer> Version(const Node& node, const Request& request) {
  CAISSON_CHECK_OK(QueryReader(request.query).Finish());
  return JsonReply(200, boost::json::object{{"version", std::string(node.version)}, {"api", "v1"}});
}

}  // namespace caisson::rest
