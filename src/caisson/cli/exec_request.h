#pragma once

#include <string>

#include "caisson/base/result.h"
#include "caisson/cli/command_line.h"
#include "caisson/cli/run_request.h"
#include "caisson/client/commands.h"

namespace caisson::cli {

enum class Forward { kInput, kNothing };
enum class Ends { kInForeground, kInBackground };

// What one `caisson exec` asks for, every value checked.
struct ExecRequest {
  std::string sandbox;
  client::StartRequest start;  // but for its input
  Notices notices = Notices::kNormal;
  Output output = Output::kPassThrough;
  Forward forward = Forward::kInput;
  Ends ends = Ends::kInForeground;
};

// Understands the values of an `exec` command line. Touches nothing outside. Errors: kInvalidArgument naming the option
// or variable and what it accepts.
Result<ExecRequest> ReadExecRequest(const CommandLine& line);

}  // namespace caisson::cli
