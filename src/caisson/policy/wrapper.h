#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/shell/shell.h"

namespace caisson::policy {

// What a command that starts another one would start: env, timeout, xargs, find -exec, sh -c and their like.
struct Inside {
  enum class Kind : std::uint8_t { kWords, kBashText, kShText, kUnknown } kind = Kind::kUnknown;
  std::vector<shell::Word> words;  // kWords: a program, no function and no builtin of a shell
  std::string text;                // the texts; kUnknown: why
  std::vector<shell::Assignment> variables;
  bool moves = false;  // in a folder that is not known
};

// Of the program `name` with these arguments; empty: it starts none by them. What its options mean that are not in our
// table is unknown.
std::vector<Inside> InsideOf(std::string_view name, std::span<const shell::Word> arguments);

}  // namespace caisson::policy
