#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/base/units.h"
#include "caisson/cli/command_line.h"
#include "caisson/plan/launch_plan.h"
#include "caisson/plan/limits.h"

namespace caisson::cli {

// How the values of options are understood that several commands have. Nothing here touches what is outside. Errors:
// kInvalidArgument naming the option or variable and what it accepts.

// What a command may be given, arguments and variables together.
inline constexpr std::size_t kMostArgumentBytes = 1U << 20U;

using Pairs = std::vector<std::pair<std::string, std::string>>;

// A value that is not accepted.
Error Refused(const std::string& source, std::string_view text, std::string why);

template <typename Value>
struct Choice {
  const char* name;
  Value value;
};

// What to say of a value that none of `names` is; the first is proposed.
Error NoChoice(const OptionValue& given, std::span<const char* const> names);

// The value that an option's text names, or `fallback` when it was not given.
template <typename Value>
Result<Value> ReadChoice(const CommandLine& line, Option option, std::span<const Choice<Value>> choices,
                         Value fallback) {
  const OptionValue* given = line.Find(option);
  if (given == nullptr) return fallback;
  std::vector<const char*> names;
  for (const Choice<Value>& choice : choices) {
    if (given->text == choice.name) return choice.value;
    names.push_back(choice.name);
  }
  return Fail(NoChoice(*given, names));
}

// --cpus, --memory, --disk, --pids; what is not given has its default.
Result<plan::Limits> ReadLimits(const CommandLine& line);

// --storage of `run` or `create`. Errors: also when it cannot hold a --disk that was given.
Result<plan::Storage> ReadStorage(const CommandLine& line, Option option, plan::Storage fallback);

// NAME=VALUE of a repeated option, sorted, each name once: the last counts.
Result<Pairs> ReadVariables(const CommandLine& line);

// What follows "--".
Result<std::vector<std::string>> ReadProgram(const CommandLine& line);

// Whether a command can be given all of this.
Status CheckSizes(const std::vector<std::string>& argv, const Pairs& env);

}  // namespace caisson::cli
