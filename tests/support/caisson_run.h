#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support/host_program.h"

namespace caisson::support {

using Texts = std::vector<std::string>;

// The program under test, from CAISSON_BIN; empty when it is not set.
std::string CaissonPath();
// The folder of the programs.
std::string ProgramFolder();

// `caisson run OPTIONS -- COMMAND` as a program to start.
ProgramSpec RunSpec(const Texts& options, const Texts& command);
Ended RunCommand(const Texts& options, const Texts& command);
// A shell script instead of a command.
Ended RunScript(const Texts& options, const std::string& script);

// A step's result, as `--json` prints it.
struct StepResult {
  int status = -1;  // of `caisson` itself
  std::string outcome;
  std::optional<int> exit_code;
  std::string signal;  // empty: none
  std::string out;     // decoded when it was base64
  std::string err;
  std::uint64_t out_bytes = 0;
  std::uint64_t err_bytes = 0;
  std::string encoding;
  double duration_ms = 0;
  double cpu_ms = 0;
  boost::json::object whole;
  std::string stderr_text;  // what `caisson` wrote to its own stderr
};

// Runs with --json. A result that is not one line with one object is a failure of the test.
StepResult RunJson(const Texts& options, const Texts& command);
StepResult RunScriptJson(const Texts& options, const std::string& script);
StepResult ParseStepResult(const Ended& ended);

}  // namespace caisson::support
