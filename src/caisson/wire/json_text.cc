#include "caisson/wire/json_text.h"

#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>

#include "caisson/base/utf8.h"

namespace caisson::wire {
namespace {

std::string QuotedJson(std::string_view text) {
  return boost::json::serialize(boost::json::string_view(ReplaceInvalidUtf8(text)));
}

std::string NumberText(double number) {
  if (!std::isfinite(number)) return "null";
  std::array<char, 400> digits{};  // the longest double without an exponent has 309 digits before the point
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::fixed).ptr;
  return {digits.data(), end};
}

void Append(std::string& out, const boost::json::value& value) {
  if (const boost::json::object* object = value.if_object()) {
    out += '{';
    for (const boost::json::key_value_pair& member : *object) {
      if (out.back() != '{') out += ',';
      out += QuotedJson(member.key()) + ":";
      Append(out, member.value());
    }
    out += '}';
  } else if (const boost::json::array* array = value.if_array()) {
    out += '[';
    for (std::size_t i = 0; i < array->size(); ++i) {
      if (i > 0) out += ',';
      Append(out, (*array)[i]);
    }
    out += ']';
  } else if (const boost::json::string* string = value.if_string()) {
    out += QuotedJson(*string);
  } else if (const double* number = value.if_double()) {
    out += NumberText(*number);
  } else {
    out += boost::json::serialize(value);
  }
}

}  // namespace

std::string JsonLine(const boost::json::value& value) {
  std::string out;
  Append(out, value);
  out += '\n';
  return out;
}

double RoundedMilliseconds(long long nanoseconds) {
  return std::round(static_cast<double>(nanoseconds) / 1000.0) / 1000.0;
}

}  // namespace caisson::wire
