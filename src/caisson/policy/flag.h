#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "caisson/shell/shell.h"

namespace caisson::policy {

// Whether a command is given a flag, as far as its words tell. kMaybe: a word is not known, comes after "--", or could
// be an abbreviation.
enum class Presence : std::uint8_t { kNo, kMaybe, kYes };

// `arguments`: without the command word. "-f" is also found in "-rf"; "--force" also as "--force=x" and, as kMaybe, as
// a beginning of it that getopt_long could take; any other text as the word itself, or before '='.
Presence FindFlag(std::string_view flag, std::span<const shell::Word> arguments);

}  // namespace caisson::policy
