#pragma once

#include <string_view>

#include "caisson/base/result.h"

namespace boost::json {
class value;
}

namespace caisson::json {

// At most so many arrays and objects inside each other.
inline constexpr std::size_t kMostDepth = 32;

// One JSON text, and nothing but it. Errors: kInvalidArgument for what RFC 8259 does not allow, a byte order mark, text
// that is not UTF-8, a number that no double holds, a name that is twice in one object, and more than kMostDepth.
Result<boost::json::value> ParseStrictJson(std::string_view text);

}  // namespace caisson::json
