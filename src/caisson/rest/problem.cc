#include "caisson/rest/problem.h"

#include <boost/json.hpp>

#include "caisson/base/units.h"
#include "caisson/wire/error_json.h"
#include "caisson/wire/json_text.h"

namespace caisson::rest {
namespace {

// Whole seconds, rounded up, at least 1.
std::string RetryAfter(const Error& error) {
  constexpr std::uint64_t kMostMs = 86'400'000;
  for (const auto& [key, value] : error.details()) {
    if (key != "retry_after_ms") continue;
    const auto ms = ParseCount(value, key, 1, kMostMs);
    if (ms) return std::to_string((*ms + 999) / 1000);
  }
  return "1";
}

}  // namespace

int StatusOf(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
      return 400;
    case Code::kNotFound:
      return 404;
    case Code::kAlreadyExists:
    case Code::kConflict:
      return 409;
    case Code::kPermissionDenied:
      return 403;
    case Code::kResourceExhausted:
      return 429;
    case Code::kUnavailable:
      return 503;
    case Code::kUnsupported:
      return 501;
    case Code::kDeadlineExceeded:
      return 504;
    case Code::kInternal:
      return 500;
  }
  return 500;
}

Reply Problem(const Error& error) { return Problem(StatusOf(error.code()), error); }

Reply Problem(int status, const Error& error) {
  boost::json::object object;
  object["type"] = "about:blank";
  const std::string_view title = ReasonPhrase(status);
  object["title"] = boost::json::string_view(title.data(), title.size());
  object["status"] = status;
  object["detail"] = error.cause().empty() ? error.message() : error.message() + ": " + error.cause();
  for (const boost::json::key_value_pair& member : wire::ErrorObject(error)) object[member.key()] = member.value();
  Reply reply{
      .status = status, .content_type = "application/problem+json", .fields = {}, .body = wire::JsonLine(object)};
  if (status == 429 || status == 503) reply.fields.emplace_back("Retry-After", RetryAfter(error));
  return reply;
}

}  // namespace caisson::rest
