// The command line and the environment variables of `caisson`, and what it says about a wrong one.
// Input: arguments, each ended by a zero byte, an empty one, then values for the variables in the order they are asked.

#include <cstdlib>
#include <string>
#include <vector>

#include "caisson/base/utf8.h"
#include "caisson/cli/command_line.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/run_request.h"
#include "fuzz/fuzz_input.h"

namespace {

using caisson::fuzz::Require;

// What reaches a terminal moves nothing there.
void RequireSafe(const std::string& text) {
  Require(caisson::IsUtf8(text), "a message is UTF-8");
  for (const char c : text) Require(c == '\n' || static_cast<unsigned char>(c) >= ' ', "a message has no control byte");
}

void Read(const caisson::cli::CommandLine& line) {
  for (const std::string& value : caisson::cli::DescribeValues(line)) (void)value;
  const auto request = caisson::cli::ReadRunRequest(line);
  if (!request) {
    RequireSafe(caisson::cli::ErrorText(request.error()));
    (void)caisson::cli::ErrorJson(request.error());
    return;
  }
  Require(!request->argv.empty(), "a run has a program");
  Require(request->limits.pids > 0 && request->limits.memory.value > 0 && request->limits.disk.value > 0 &&
              request->limits.cpus.value > 0,
          "no limit is 0");
  for (const auto& [name, value] : request->env) {
    Require(!name.empty() && name.find('=') == std::string::npos, "a variable has a name");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  caisson::fuzz::Input input(data, size);
  std::vector<std::string> arguments;
  while (!input.empty()) {
    const std::string_view argument = input.TakeUntil('\0');
    if (argument.empty()) break;
    arguments.emplace_back(argument);
  }
  if (arguments.empty()) return 0;
  std::vector<std::string> variables;
  while (!input.empty()) variables.emplace_back(input.TakeUntil('\0'));
  std::size_t asked = 0;
  const auto environment = [&](const char*) { return asked < variables.size() ? variables[asked++].c_str() : nullptr; };
  (void)caisson::cli::AsksForJson(arguments);
  const auto line = caisson::cli::ParseCommandLine(arguments, environment);
  if (!line) {
    RequireSafe(caisson::cli::ErrorText(line.error()));
    (void)caisson::cli::ErrorJson(line.error());
  } else if (line->command == caisson::cli::CommandId::kRun && !line->Has(caisson::cli::Option::kHelp)) {
    Read(*line);
  }
  return 0;
}
