#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace caisson::client {

// RFC 4648 with padding, nothing else between; nothing for what is not that.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace caisson::client
