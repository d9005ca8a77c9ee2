#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/cli/option_table.h"

namespace caisson::cli {

// The value of a variable, or nullptr: std::getenv, or a table in tests.
using Environment = std::function<const char*(const char* name)>;

struct OptionValue {
  std::string text;
  std::string source;  // "--memory" or "CAISSON_MEMORY": what an error names
};

// A command line, taken apart but not yet understood.
struct CommandLine {
  CommandId command = CommandId::kHelp;
  std::map<Option, std::vector<OptionValue>> values;  // what was given; defaults are not in it
  std::optional<std::vector<std::string>> program;    // what followed "--"; for commands that take one
  std::vector<std::string> operands;                  // as many as the command takes

  bool Has(Option option) const { return values.contains(option); }
  // The value that counts: the last one given. nullptr: none.
  const OptionValue* Find(Option option) const;
};

// Takes apart what follows the program's name: at least one argument. An option beats its environment variable; an
// empty variable counts as absent. Everything after the first "--" is the program's, untouched. Errors:
// kInvalidArgument naming what is unknown and the nearest known name.
Result<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments, const Environment& environment);

// True when --json stands before any "--": how to print an error about the command line itself.
bool AsksForJson(const std::vector<std::string>& arguments);

}  // namespace caisson::cli
