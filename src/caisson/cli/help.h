#pragma once

#include <string>

#include "caisson/cli/option_table.h"

namespace caisson::cli {

// The help of one command: usage, options with defaults and variables, an example.
std::string HelpText(CommandId command);

// The help of the whole program: its commands.
std::string ProgramHelpText();

}  // namespace caisson::cli
