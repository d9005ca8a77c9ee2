#include "caisson/client/reply_reader.h"

#include <boost/json.hpp>

namespace caisson::client {

Error NotUnderstood(std::string_view what) {
  return Error(Code::kInternal, "the node's answer is not understood")
      .Because(std::string(what))
      .Remedy("see with `caisson version` whether this program and the node are of one version");
}

Result<boost::json::value> ParseObject(std::string_view text) {
  boost::json::error_code failed;
  boost::json::value value = boost::json::parse(boost::json::string_view(text.data(), text.size()), failed);
  if (failed || !value.is_object()) return Fail(NotUnderstood("it is no JSON object"));
  return value;
}

std::optional<std::string> OptionalTextAt(const boost::json::object& object, const char* key) {
  const boost::json::value* value = object.if_contains(key);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string(value->get_string());
}

std::string TextAt(const boost::json::object& object, const char* key) {
  return OptionalTextAt(object, key).value_or(std::string());
}

std::int64_t IntegerAt(const boost::json::object& object, const char* key) {
  const boost::json::value* value = object.if_contains(key);
  boost::json::error_code failed;
  return value == nullptr || !value->is_number() ? 0 : value->to_number<std::int64_t>(failed);
}

std::optional<int> OptionalIntegerAt(const boost::json::object& object, const char* key) {
  const boost::json::value* value = object.if_contains(key);
  if (value == nullptr || !value->is_int64()) return std::nullopt;
  return static_cast<int>(value->get_int64());
}

bool FlagAt(const boost::json::object& object, const char* key) {
  const boost::json::value* value = object.if_contains(key);
  return value != nullptr && value->is_bool() && value->get_bool();
}

}  // namespace caisson::client
