#pragma once

#include <string>

#include "caisson/cli/run_request.h"
#include "caisson/sandbox/command.h"

namespace caisson::cli {

// What a person should know beyond the command's own output: one line about an outcome that is not its own exit, empty
// otherwise. Silent too about SIGINT and SIGPIPE, as shells are.
std::string OutcomeLine(const sandbox::Outcome& outcome, const RunRequest& request,
                        const std::optional<sandbox::DecisionNote>& decision = std::nullopt);

// For --verbose: what the command used.
std::string UsageLine(const sandbox::CommandResult& result);

}  // namespace caisson::cli
