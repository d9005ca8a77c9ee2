#include "caisson/shell/functions.h"

#include <algorithm>
#include <array>
#include <string>

#include "caisson/shell/names.h"

namespace caisson::shell {
namespace {

using std::string_view_literals::operator""sv;

// Builtins that can do neither, whatever their arguments.
constexpr std::array kHarmless = {":"sv,     "["sv,     "test"sv,     "echo"sv,   "true"sv,
                                  "false"sv, "cd"sv,    "pwd"sv,      "return"sv, "exit"sv,
                                  "shift"sv, "break"sv, "continue"sv, "wait"sv,   "umask"sv};
// Builtins that could only by switching to the POSIX dialect, where aliases hold: by an option or a variable.
constexpr std::array kSetters = {"export"sv,   "declare"sv, "typeset"sv, "local"sv,
                                 "readonly"sv, "read"sv,    "set"sv,     "printf"sv};

template <typename Names>
bool Holds(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool NamesPosix(std::string_view text) {
  return text.find("posix") != std::string_view::npos || text.find("POSIX") != std::string_view::npos ||
         text.find("ALIAS") != std::string_view::npos;
}

// Known, or name=..., so that which variable it sets is known.
bool SetsKnownName(const Word& word) {
  const std::string_view known = word.value ? std::string_view(*word.value) : std::string_view(word.known_prefix);
  if (NamesPosix(known)) return false;
  if (word.value) return true;
  const std::size_t length = NameLength(known);
  return length > 0 && known.substr(length).starts_with('=');
}

bool KeepsFunctions(const SimpleCommand& command) {
  if (command.words.empty()) return true;
  if (!command.words.front().value) return false;
  const std::string& name = *command.words.front().value;
  if (!IsBuiltin(name) || Holds(kHarmless, name)) return true;
  if (!Holds(kSetters, name)) return false;
  if (name == "printf") {
    return command.words.size() > 1 && command.words[1].value && !command.words[1].value->starts_with('-');
  }
  return std::all_of(command.words.begin() + 1, command.words.end(), SetsKnownName);
}

}  // namespace

bool IsSafeFunctionName(std::string_view name) {
  return NameLength(name) == name.size() && !name.empty() && !IsReserved(name) && !IsBuiltin(name);
}

bool KeepsFunctions(const std::vector<SimpleCommand>& commands) {
  return std::all_of(commands.begin(), commands.end(),
                     [](const SimpleCommand& command) { return KeepsFunctions(command); });
}

}  // namespace caisson::shell
