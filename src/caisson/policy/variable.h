#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace caisson::policy {

// A name that bash takes as a variable's.
bool IsVariableName(std::string_view name);

// Why a command may not be given this variable: it makes a listed program start another, load code, or read words
// otherwise than the shell analysis does. Absent: it may. `value`: absent when it is not known.
std::optional<std::string> WhyRefused(std::string_view name, const std::optional<std::string>& value);

}  // namespace caisson::policy
