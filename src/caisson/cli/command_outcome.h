#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "caisson/client/commands.h"
#include "caisson/sandbox/outcome.h"

namespace caisson::cli {

// What a result object says became of a command. Of a program that did not start the hints say why. An outcome that is
// none of those of a command counts as not started.
sandbox::Outcome OutcomeOf(const client::ResultView& result);

// What a person should know beyond the command's own output, as `caisson run` says it: lines without their ends.
std::vector<std::string> ResultNotices(const client::ResultView& result, const std::string& program,
                                       std::chrono::milliseconds timeout);

}  // namespace caisson::cli
