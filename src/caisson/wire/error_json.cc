#include "caisson/wire/error_json.h"

#include <boost/json.hpp>

namespace caisson::wire {
namespace {

boost::json::value TextOrNull(const std::string& text) {
  if (text.empty()) return nullptr;
  return boost::json::value(text);
}

}  // namespace

boost::json::object ErrorObject(const Error& error) {
  boost::json::object details;
  for (const auto& [key, value] : error.details()) details[key] = value;
  boost::json::object body;
  body["code"] = std::string(CodeName(error.code()));
  body["message"] = error.message();
  body["cause"] = TextOrNull(error.cause());
  body["remediation"] = TextOrNull(error.remediation());
  body["retryable"] = error.retryable();
  body["details"] = std::move(details);
  return body;
}

}  // namespace caisson::wire
