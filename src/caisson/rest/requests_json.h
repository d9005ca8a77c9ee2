#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "caisson/base/result.h"
#include "caisson/service/requests.h"

namespace caisson::json {
class ObjectReader;
}  // namespace caisson::json

namespace caisson::rest {

// The bodies and parameters of requests, read into what the service takes. Errors: kInvalidArgument.

// The body of POST /v1/sandboxes. `idempotency_key`: its header.
Result<service::CreateRequest> ReadCreate(std::string_view body, const std::optional<std::string>& idempotency_key);
// The fields of a policy, in a body or in an object of one.
service::PolicyRequest ReadPolicyFields(json::ObjectReader& reader);
// The parameters of GET /v1/sandboxes.
Result<service::ListRequest> ReadList(std::string_view query);

// The body of POST .../commands.
enum class Run { kAndWait, kInBackground };
struct StartRequest {
  service::CommandRequest command;
  Run run = Run::kAndWait;
};
Result<StartRequest> ReadStart(std::string_view body);
// The parameters and the body of PUT .../policy.
Result<service::PolicyChange> ReadPolicyChange(std::string_view query, std::string_view body);
// The body of POST .../signal.
Result<int> ReadSignal(std::string_view body);

}  // namespace caisson::rest
