#pragma once

#include <string_view>

#include "caisson/document/document.h"

namespace caisson::document {

// Read for one format. `text` is UTF-8 without a byte order mark and without a zero byte, of at most kMostBytes.
Result<Value> ReadToml(std::string_view text, std::string_view name);
Result<Value> ReadJson(std::string_view text, std::string_view name);

}  // namespace caisson::document
