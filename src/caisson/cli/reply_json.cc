#include "caisson/cli/reply_json.h"

#include <boost/json.hpp>
#include <optional>

#include "caisson/wire/json_text.h"

namespace caisson::cli {
namespace {

std::optional<boost::json::value> Parse(std::string_view json) {
  boost::json::error_code failed;
  boost::json::value value = boost::json::parse(boost::json::string_view(json.data(), json.size()), failed);
  if (failed) return std::nullopt;
  return value;
}

std::string TextOf(const boost::json::value& value) {
  if (value.is_null()) return "-";
  if (const boost::json::string* text = value.if_string()) return std::string(*text);
  std::string line = wire::JsonLine(value);
  line.pop_back();
  return line;
}

}  // namespace

std::string ReplyLine(std::string_view json) {
  const auto value = Parse(json);
  return value ? wire::JsonLine(*value) : std::string();
}

std::vector<std::pair<std::string, std::string>> ReplyMembers(std::string_view json) {
  std::vector<std::pair<std::string, std::string>> members;
  const auto value = Parse(json);
  if (!value || !value->is_object()) return members;
  for (const boost::json::key_value_pair& member : value->get_object()) {
    members.emplace_back(member.key(), TextOf(member.value()));
  }
  return members;
}

std::string ReplyMember(std::string_view json, std::string_view key) {
  const auto value = Parse(json);
  if (!value || !value->is_object()) return {};
  const boost::json::value* member = value->get_object().if_contains(boost::json::string_view(key.data(), key.size()));
  return member == nullptr ? std::string() : wire::JsonLine(*member);
}

}  // namespace caisson::cli
