#include <boost/json.hpp>

#include "caisson/rest/infos_json.h"
#include "caisson/rest/query.h"
#include "caisson/rest/requests_json.h"
#include "caisson/rest/routes.h"

namespace caisson::rest {

Result<Answer> GetPolicy(const Node& node, const Request& request) {
  CAISSON_CHECK_OK(QueryReader(request.query).Finish());
  CAISSON_TRY(const service::PolicyInfo info, node.service.GetPolicy(request.caller, request.sandbox));
  return JsonReply(200, PolicyObject(info));
}

Result<Answer> SetPolicy(const Node& node, const Request& request) {
  CAISSON_TRY(const service::PolicyChange change, ReadPolicyChange(request.query, request.body));
  CAISSON_TRY(const service::PolicyInfo info, node.service.SetPolicy(request.caller, request.sandbox, change));
  return JsonReply(200, PolicyObject(info));
}

}  // namespace caisson::rest
