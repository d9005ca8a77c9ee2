#pragma once

#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/cli/command_line.h"

namespace caisson::cli {

// The arguments of the program caisson-daemon for a `serve` command line: the same options, each with its value.
// Touches nothing outside. Errors: kInvalidArgument naming the option and what it accepts.
Result<std::vector<std::string>> DaemonArguments(const CommandLine& line);

}  // namespace caisson::cli
