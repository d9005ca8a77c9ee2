#pragma once

#include <string>
#include <string_view>

#include "caisson/base/result.h"

namespace caisson {

// RFC 4648, with padding.
std::string Base64(std::string_view bytes);

// What Base64 gave. Errors: kInvalidArgument for anything else: other characters, line breaks, no padding, bits that
// the last character has to spare.
Result<std::string> DecodeBase64(std::string_view text);

}  // namespace caisson
