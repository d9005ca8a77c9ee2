#include "caisson/client/tools.h"

#include <boost/json.hpp>

#include "caisson/client/commands.h"
#include "caisson/client/target.h"

namespace caisson::client {
namespace {

Status CheckInput(std::string_view input) {
  boost::json::error_code failed;
  const boost::json::value value = boost::json::parse({input.data(), input.size()}, failed);
  if (!failed && value.is_object()) return {};
  return Fail(Error(Code::kInvalidArgument, "the input of the tool is no JSON object")
                  .Because(failed ? failed.message() : "it is another JSON value")
                  .Remedy("write for example '{\"command\": \"ls\"}'"));
}

}  // namespace

Result<std::string> CallTool(Http& http, std::string_view sandbox, std::string_view tool, std::string_view input) {
  CAISSON_CHECK_OK(CheckInput(input));
  CAISSON_TRY(Reply reply, http.Ask({.method = "POST",
                                     .target = SandboxTarget(sandbox, "/tools/" + EncodeSegment(tool)),
                                     .body = input,
                                     .content_type = "application/json"}));
  CAISSON_CHECK_OK(ReadResult(reply.body));
  return std::move(reply.body);
}

}  // namespace caisson::client
