#pragma once

#include <string>
#include <vector>

#include "caisson/cli/command_line.h"

namespace caisson::cli {

// The whole program: `arguments` are those after its name. Returns its exit status. Changes the process (SIGPIPE is
// ignored; `run` gives up root), so call once, from the only thread.
int Main(const std::vector<std::string>& arguments, const Environment& environment);

}  // namespace caisson::cli
