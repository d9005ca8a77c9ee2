#pragma once

#include <optional>
#include <string_view>

#include "caisson/shell/shell.h"

namespace caisson::shell {

// What in the bytes alone stops any proof: NUL and other control bytes than tab and newline (bash drops some of them
// and uses others as marks of its own), and what is not UTF-8.
std::optional<Unknown> CheckBytes(std::string_view text);

}  // namespace caisson::shell
