#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/cli/command_line.h"
#include "caisson/cli/option_values.h"
#include "caisson/plan/launch_plan.h"
#include "caisson/plan/limits.h"
#include "caisson/sandbox/command.h"

namespace caisson::cli {

enum class Notices { kQuiet, kNormal, kVerbose };
enum class Terminal { kNone, kTty };
enum class Output { kPassThrough, kJson };
enum class After { kDestroy, kKeep };  // what becomes of the sandbox's files

struct WorkspaceFolder {
  std::string path;
  plan::WorkspaceMode mode = plan::WorkspaceMode::kCopy;
};

// What one `caisson run` asks for, every value checked.
struct RunRequest {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> env;  // each name once
  std::optional<std::string> image_directory;            // absent: the image `host`
  std::optional<WorkspaceFolder> workspace;
  plan::Limits limits;
  plan::Storage storage = plan::Storage::kTmpfs;
  sandbox::User user = sandbox::User::kAgent;
  std::chrono::milliseconds timeout = sandbox::CommandSpec{}.timeout;
  Notices notices = Notices::kNormal;
  Terminal terminal = Terminal::kNone;
  Output output = Output::kPassThrough;
  After after = After::kDestroy;
  std::optional<std::string> policy;  // a preset or a file; absent: nothing is refused
};

// Understands the values of a `run` command line. Touches nothing outside. Errors: kInvalidArgument naming the option
// or variable and what it accepts.
Result<RunRequest> ReadRunRequest(const CommandLine& line);

// "DIR", "DIR:copy", "DIR:rw", "DIR:ro". A suffix that is no mode is an error, unless it holds a slash and so is part
// of the path; a folder whose name holds a colon is written with its mode.
Result<WorkspaceFolder> ParseWorkspace(const OptionValue& value);

// For --verbose: one "name value (source)" for each option that has a value or a default.
std::vector<std::string> DescribeValues(const CommandLine& line);

}  // namespace caisson::cli
