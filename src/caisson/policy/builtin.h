#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/shell/shell.h"

namespace caisson::policy {

// What a builtin of bash 5.2 does when it is given these words.
struct BuiltinUse {
  enum class Kind : std::uint8_t {
    kSteers,      // changes the shell only, and nothing of what later words mean: needs no rule
    kNeedsRule,   // writes, or reaches processes
    kNeedsNamed,  // may run or redefine anything: needs a rule that names it, a default is not enough
    kRunsWords,   // runs `words` as a command: `command`, `builtin`, `exec`
    kRunsText,    // runs `text` in this shell: `eval`, `trap`
    kUnprovable,  // runs what cannot be told
  } kind = Kind::kNeedsRule;
  std::string why;                           // of kUnprovable, in words
  std::vector<shell::Assignment> variables;  // that it sets or forgets; judged like those of a command
  std::vector<shell::Word> words;
  std::string text;
};

// Absent: bash has no builtin of this name.
std::optional<BuiltinUse> UseOfBuiltin(std::string_view name, std::span<const shell::Word> arguments);

}  // namespace caisson::policy
