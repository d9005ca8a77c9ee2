#pragma once

#include <string>
#include <string_view>

#include "caisson/base/result.h"

namespace caisson::rest {

// `text` with each %XX replaced by its byte, once. Errors: kInvalidArgument for a % without two hexadecimal digits, a
// zero byte, and a result that is not UTF-8. Source: RFC 3986, 2.1.
Result<std::string> PercentDecode(std::string_view text);

// The path of a file from what follows `/files/` in a request: decoded once, so that %2F separates as / does, and made
// absolute. Empty: "/". Errors: kInvalidArgument as above for an empty part, `.` and `..`, which other programs on
// the way may have read in another way, and for more than 4,095 bytes.
Result<std::string> FilePathOf(std::string_view tail);

}  // namespace caisson::rest
