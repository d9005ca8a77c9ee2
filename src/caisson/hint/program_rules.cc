#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <variant>

#include "caisson/hint/complaints.h"
#include "caisson/hint/rules.h"

// Programs and modules that are not there.

namespace caisson::hint {
namespace {

using Name = std::optional<std::string_view>;

constexpr std::string_view kNoSuchFile = ": No such file or directory";

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Name NotEmpty(std::string_view name) { return name.empty() ? Name() : Name(name); }

// The text between two others.
Name Between(std::string_view line, std::string_view before, std::string_view after) {
  const std::size_t at = line.find(before);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(at + before.size());
  const std::size_t end = after.empty() ? rest.size() : rest.find(after);
  return end == std::string_view::npos ? Name() : NotEmpty(rest.substr(0, end));
}

// bash: "bash: line 1: jq: command not found"; zsh: "zsh:1: command not found: jq"; dash: "sh: 1: jq: not found".
Name ByShell(std::string_view line) {
  constexpr std::string_view kBash = ": command not found";
  constexpr std::string_view kDash = ": not found";
  if (line.ends_with(kBash)) {
    const Split split = SplitLast(line.substr(0, line.size() - kBash.size()));
    return split.before.empty() ? Name() : NotEmpty(split.after);
  }
  if (const Name name = Between(line, ": command not found: ", "")) return name;
  if (!line.ends_with(kDash)) return std::nullopt;
  const Split split = SplitLast(line.substr(0, line.size() - kDash.size()));
  const Split place = SplitLast(split.before);
  const bool is_shell = (IsNumber(place.after) && !place.before.empty()) ||
                        IsOneOf(BaseName(split.before), {"sh", "ash", "dash", "ksh", "busybox"});
  return is_shell ? NotEmpty(split.after) : Name();
}

// Programs that start others: "env: 'jq': No such file or directory", "timeout: failed to run command 'jq': ...",
// "make: jq: ..." (which says so of files too, but then without an error 127).
Name ByStarter(std::string_view line, std::string_view text) {
  if (const Name name = Between(line, "Can't exec \"", "\": No such file or directory")) return name;  // perl
  if (const Name name = Between(line, "Error: spawn ", " ENOENT")) return name;                        // node
  if (text.find("in _execute_child") != std::string_view::npos) {
    if (const Name name = Between(line, "FileNotFoundError: [Errno 2] No such file or directory: '", "'")) return name;
  }
  if (!line.ends_with(kNoSuchFile)) return std::nullopt;
  const std::string_view before = line.substr(0, line.size() - kNoSuchFile.size());
  if (const Name name = Between(before, ": failed to run command ", "")) return NotEmpty(WithoutQuotes(*name));
  const Split split = SplitLast(before);
  const std::string_view starter = BaseName(split.before);
  const bool is_make = IsOneOf(starter, {"make", "gmake"}) && text.find("Error 127") != std::string_view::npos;
  return is_make || IsOneOf(starter, {"env", "xargs"}) ? NotEmpty(WithoutQuotes(split.after)) : Name();
}

// bash of a path, and then the status 127: "bash: line 1: ./tool: No such file or directory", or "cannot execute:
// required file not found" where its interpreter is missing.
Name ByBashOfPath(std::string_view line) {
  constexpr std::string_view kLost = ": cannot execute: required file not found";
  if (line.ends_with(kLost)) return NotEmpty(SplitLast(line.substr(0, line.size() - kLost.size())).after);
  if (!line.ends_with(kNoSuchFile)) return std::nullopt;
  const Split split = SplitLast(line.substr(0, line.size() - kNoSuchFile.size()));
  const std::string_view place = SplitLast(split.before).after;
  return place.starts_with("line ") && IsNumber(place.substr(5)) ? NotEmpty(split.after) : Name();
}

struct Alternative {
  std::string_view program;
  std::string_view instead;
};
constexpr std::array<Alternative, 8> kAlternatives = {{{"jq", "`python3 -m json.tool`"},
                                                       {"python", "`python3`"},
                                                       {"pip", "`python3 -m pip`"},
                                                       {"pip3", "`python3 -m pip`"},
                                                       {"pytest", "`python3 -m pytest`"},
                                                       {"sudo", "the option --user root instead of `sudo`"},
                                                       {"rg", "`grep -r`"},
                                                       {"fd", "`find`"}}};

Hint NotFoundHint(std::string_view program) {
  Hint hint{.code = "command_not_found", .message = Named(program) + " is not in the sandbox.", .suggestion = {}};
  if (program.find('/') != std::string_view::npos) {
    hint.message = Named(program) + " is not in the sandbox, or the interpreter that its first line names is not.";
    hint.suggestion = "Check it with `ls -l " + Named(program).substr(1) + ", and its first line.";
    return hint;
  }
  const auto* found = std::find_if(kAlternatives.begin(), kAlternatives.end(),
                                   [program](const Alternative& entry) { return entry.program == program; });
  hint.suggestion = (found != kAlternatives.end() ? "Use " + std::string(found->instead) : "Use another program") +
                    ", or an image that has " + Named(program) + ": --image DIR.";
  return hint;
}

struct Package {
  std::string_view module;
  std::string_view package;
};
constexpr std::array<Package, 8> kPackages = {{{"yaml", "PyYAML"},
                                               {"PIL", "Pillow"},
                                               {"bs4", "beautifulsoup4"},
                                               {"cv2", "opencv-python"},
                                               {"sklearn", "scikit-learn"},
                                               {"dateutil", "python-dateutil"},
                                               {"dotenv", "python-dotenv"},
                                               {"Crypto", "pycryptodome"}}};

// The first part of a dotted name; empty when it is no name of a module.
std::string_view TopModule(std::string_view text) {
  const auto* end = std::find_if_not(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || static_cast<unsigned char>(c) >= 0x80;
  });
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

// "ModuleNotFoundError: No module named 'a.b'"; of `python3 -m a`: "/usr/bin/python3: No module named a".
Name MissingModule(std::string_view line) {
  constexpr std::string_view kPhrase = ": No module named ";
  const std::size_t at = line.find(kPhrase);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view before = line.substr(0, at);
  const bool is_python = before.ends_with("ModuleNotFoundError") || before.ends_with("ImportError") ||
                         BaseName(before).starts_with("python") || BaseName(before).starts_with("pypy");
  if (!is_python) return std::nullopt;
  std::string_view name = line.substr(at + kPhrase.size());
  if (name.starts_with('\'')) name.remove_prefix(1);
  return NotEmpty(TopModule(name));
}

}  // namespace

std::optional<Hint> CommandNotFound(const Evidence& evidence) {
  if (const auto* failed = std::get_if<sandbox::FailedToStart>(&evidence.result.outcome)) {
    if (failed->reason != sandbox::FailedToStart::Reason::kNotFound || evidence.command.argv.empty()) {
      return std::nullopt;
    }
    return NotFoundHint(evidence.command.argv.front());
  }
  const std::string text = Complaints(evidence);
  const bool may_be_path = ExitedWith(evidence, 127);
  const Name name = LastAnswer(text, [&](std::string_view line) {
    Name found = ByShell(line);
    if (!found) found = ByStarter(line, text);
    if (!found && may_be_path) found = ByBashOfPath(line);
    return found;
  });
  if (!name) return std::nullopt;
  return NotFoundHint(*name);
}

std::optional<Hint> MissingPythonModule(const Evidence& evidence) {
  const std::string text = Complaints(evidence);
  const Name module = LastAnswer(text, MissingModule);
  if (!module) return std::nullopt;
  const auto* found =
      std::find_if(kPackages.begin(), kPackages.end(), [&](const Package& entry) { return entry.module == *module; });
  const std::string package = Named(found != kPackages.end() ? found->package : *module);
  return Hint{.code = "missing_python_module",
              .message = "Python has no module " + Named(*module) + " in the sandbox.",
              .suggestion = "If it is not the project's own (then set PYTHONPATH), put the package " + package +
                            " into the workspace from outside with `pip install --target`, or do without it."};
}

}  // namespace caisson::hint
