#pragma once

#include <string>
#include <string_view>

#include "caisson/shell/shell.h"

namespace caisson::shell {

// For tests: an analysis in one line. [a] is a word of a known value, {a} of an unknown one that begins with a;
// x=, <, > and <> come before what is assigned or redirected, ! before a call of a function; ; ends a command.
inline std::string Told(const Word& word) {
  return word.value ? "[" + *word.value + "]" : "{" + word.known_prefix + "}";
}

inline std::string Told(const SimpleCommand& command) {
  std::string told = command.calls_function ? "!" : "";
  for (const Assignment& assignment : command.assignments) told += assignment.name + "=" + Told(assignment.value);
  for (const Word& word : command.words) told += Told(word);
  for (const Redirection& redirection : command.redirections) {
    told += redirection.direction == Direction::kRead ? "<" : redirection.direction == Direction::kWrite ? ">" : "<>";
    told += Told(redirection.target);
  }
  return told + ";";
}

inline std::string Told(std::string_view text) {
  const Analysis analysis = Analyze(text);
  std::string told;
  for (const SimpleCommand& command : analysis.commands) told += Told(command);
  return analysis.unknown ? told + "unknown: " + analysis.unknown->what : told;
}

struct Case {
  std::string_view text;
  std::string_view told;
};

}  // namespace caisson::shell
