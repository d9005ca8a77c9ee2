#include "caisson/shell/names.h"

#include <algorithm>
#include <array>

namespace caisson::shell {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kReserved = {"!"sv,    "[["sv,   "]]"sv,    "case"sv,  "coproc"sv,   "do"sv, "done"sv, "elif"sv,
                                  "else"sv, "esac"sv, "fi"sv,    "for"sv,   "function"sv, "if"sv, "in"sv,   "select"sv,
                                  "then"sv, "time"sv, "until"sv, "while"sv, "{"sv,        "}"sv};

// `compgen -b` of bash 5.2.
constexpr std::array kBuiltins = {
    "."sv,      ":"sv,       "["sv,         "alias"sv,    "bg"sv,       "bind"sv,    "break"sv,    "builtin"sv,
    "caller"sv, "cd"sv,      "command"sv,   "compgen"sv,  "complete"sv, "compopt"sv, "continue"sv, "declare"sv,
    "dirs"sv,   "disown"sv,  "echo"sv,      "enable"sv,   "eval"sv,     "exec"sv,    "exit"sv,     "export"sv,
    "false"sv,  "fc"sv,      "fg"sv,        "getopts"sv,  "hash"sv,     "help"sv,    "history"sv,  "jobs"sv,
    "kill"sv,   "let"sv,     "local"sv,     "logout"sv,   "mapfile"sv,  "popd"sv,    "printf"sv,   "pushd"sv,
    "pwd"sv,    "read"sv,    "readarray"sv, "readonly"sv, "return"sv,   "set"sv,     "shift"sv,    "shopt"sv,
    "source"sv, "suspend"sv, "test"sv,      "times"sv,    "trap"sv,     "true"sv,    "type"sv,     "typeset"sv,
    "ulimit"sv, "umask"sv,   "unalias"sv,   "unset"sv,    "wait"sv};

// All that bash computes itself: which of them are integers differs between its versions.
constexpr std::array kIntegerVariables = {
    "BASHPID"sv, "BASH_SUBSHELL"sv, "EPOCHREALTIME"sv, "EPOCHSECONDS"sv, "EUID"sv,    "HISTCMD"sv, "LINENO"sv,
    "OPTIND"sv,  "PPID"sv,          "RANDOM"sv,        "SECONDS"sv,      "SRANDOM"sv, "UID"sv};

template <typename Names>
bool Holds(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::size_t NameLength(std::string_view text) {
  if (text.empty() || !IsNameStart(text.front())) return 0;
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), IsNameByte) - text.begin());
}

bool IsNumber(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit); }

bool IsInteger(std::string_view text) { return IsNumber(text.starts_with('-') ? text.substr(1) : text); }

bool IsReserved(std::string_view word) { return Holds(kReserved, word); }
bool IsBuiltin(std::string_view word) { return Holds(kBuiltins, word); }
bool IsIntegerVariable(std::string_view name) { return Holds(kIntegerVariables, name); }

bool ChangesReading(std::string_view name) {
  return name == "LANG" || name.starts_with("LC_") || name == "POSIXLY_CORRECT" || name == "BASH_COMPAT";
}

}  // namespace caisson::shell
