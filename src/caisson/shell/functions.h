#pragma once

#include <string_view>
#include <vector>

#include "caisson/shell/shell.h"

namespace caisson::shell {

// True when a function of this name is certainly what the command word means: bash finds no builtin or keyword first,
// in any mode.
bool IsSafeFunctionName(std::string_view name);

// True when none of these commands, in whatever order they run, can remove a function or put an alias before it.
bool KeepsFunctions(const std::vector<SimpleCommand>& commands);

}  // namespace caisson::shell
