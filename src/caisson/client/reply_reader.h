#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/base/result.h"

namespace boost::json {
class object;
class value;
}  // namespace boost::json

namespace caisson::client {

// Reads the JSON that a node sends. Private to the module. A field that is missing or of another type is empty, zero or
// false.

// The one error for a reply that cannot be read.
Error NotUnderstood(std::string_view what);

// Errors: kInternal when `text` is no JSON object.
Result<boost::json::value> ParseObject(std::string_view text);

std::string TextAt(const boost::json::object& object, const char* key);
std::optional<std::string> OptionalTextAt(const boost::json::object& object, const char* key);
std::int64_t IntegerAt(const boost::json::object& object, const char* key);
std::optional<int> OptionalIntegerAt(const boost::json::object& object, const char* key);
bool FlagAt(const boost::json::object& object, const char* key);

}  // namespace caisson::client
