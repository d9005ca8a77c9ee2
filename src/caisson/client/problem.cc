#include "caisson/client/problem.h"

#include <array>
#include <boost/json.hpp>
#include <optional>

#include "caisson/base/utf8.h"

namespace caisson::client {
namespace {

constexpr std::array kCodes = {
    Code::kInvalidArgument,   Code::kNotFound,    Code::kAlreadyExists, Code::kPermissionDenied, Code::kConflict,
    Code::kResourceExhausted, Code::kUnavailable, Code::kUnsupported,   Code::kDeadlineExceeded, Code::kInternal};

std::optional<Code> CodeOfName(std::string_view name) {
  for (const Code code : kCodes) {
    if (CodeName(code) == name) return code;
  }
  return std::nullopt;
}

Code CodeOfStatus(unsigned status) {
  switch (status) {
    case 401:
    case 403:
      return Code::kPermissionDenied;
    case 404:
      return Code::kNotFound;
    case 408:
    case 504:
      return Code::kDeadlineExceeded;
    case 409:
      return Code::kConflict;
    case 429:
      return Code::kResourceExhausted;
    case 501:
      return Code::kUnsupported;
    case 502:
    case 503:
      return Code::kUnavailable;
    default:
      return status < 500 ? Code::kInvalidArgument : Code::kInternal;
  }
}

std::string TextOf(const boost::json::object& object, const char* key) {
  const boost::json::value* value = object.if_contains(key);
  const boost::json::string* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string() : std::string(*text);
}

// What adds to an error takes one that is about to go, and changes it in place.
Error WithDetails(Error error, const boost::json::object& problem) {
  const boost::json::value* details = problem.if_contains("details");
  if (details == nullptr || !details->is_object()) return error;
  for (const boost::json::key_value_pair& one : details->get_object()) {
    if (one.value().is_string())
      (void)static_cast<Error&&>(error).Detail(one.key(), std::string(one.value().get_string()));
  }
  return error;
}

Error Unexplained(unsigned status) {
  Error error = Error(CodeOfStatus(status), "the node refused with status " + std::to_string(status))
                    .Because("it gave no reason that can be read")
                    .Remedy("see whether a node of Caisson answers there");
  if (status == 503 || status == 429) return std::move(error).Retryable();
  return error;
}

}  // namespace

Error ErrorOfReply(unsigned status, std::string_view body) {
  boost::json::error_code failed;
  const boost::json::value value = boost::json::parse(boost::json::string_view(body.data(), body.size()), failed);
  if (failed || !value.is_object()) return Unexplained(status);
  const boost::json::object& problem = value.get_object();
  const std::string message = TextOf(problem, "message");
  const std::optional<Code> code = CodeOfName(TextOf(problem, "code"));
  if (message.empty() || !code) return Unexplained(status);
  Error error = Error(*code, message).Because(TextOf(problem, "cause")).Remedy(TextOf(problem, "remediation"));
  const boost::json::value* retryable = problem.if_contains("retryable");
  if (retryable != nullptr && retryable->is_bool() && retryable->get_bool())
    (void)static_cast<Error&&>(error).Retryable();
  return WithDetails(std::move(error), problem);
}

}  // namespace caisson::client
