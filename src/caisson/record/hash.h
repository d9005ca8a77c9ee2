#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "caisson/base/sha256.h"

namespace caisson::record {

// 64 lower-case hexadecimal digits.
std::string HexOf(const Sha256& hash);
// What HexOf gave; nothing for anything else.
std::optional<Sha256> ReadHex(std::string_view text);

}  // namespace caisson::record
