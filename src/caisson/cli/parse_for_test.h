#pragma once

#include <map>
#include <string>
#include <vector>

#include "caisson/cli/command_line.h"

namespace caisson::cli {

// For tests: a command line, with these variables and no others.
inline Result<CommandLine> ParseForTest(const std::vector<std::string>& arguments,
                                        const std::map<std::string, std::string>& variables = {}) {
  return ParseCommandLine(arguments, [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

}  // namespace caisson::cli
