#include "caisson/policy/alternative.h"
#include "caisson/base/path_text.h"

#include <algorithm>
#include <map>
#include <vector>

namespace caisson::policy {
namespace {

// With python3 on the list.
const std::map<std::string_view, std::string_view>& WaysOfPython() {
  static const std::map<std::string_view, std::string_view> ways = {
      {"rm", "delete with Python's os.remove or shutil.rmtree"},
      {"rmdir", "delete with Python's os.rmdir or shutil.rmtree"},
      {"unlink", "delete with Python's os.remove"},
      {"touch", "create the file with Python's open"},
      {"mkdir", "create folders with Python's os.makedirs"},
      {"cp", "copy with Python's shutil.copy or shutil.copytree"},
      {"install", "copy with Python's shutil.copy"},
      {"mv", "move with Python's shutil.move"},
      {"ln", "link with Python's os.symlink"},
      {"chmod", "change modes with Python's os.chmod"},
      {"sed", "change files with Python"},
      {"awk", "cut up text with Python"},
      {"find", "look through folders with Python's pathlib.Path.rglob"},
      {"head", "read the beginning of a file with Python"},
      {"tail", "read the end of a file with Python"},
      {"curl", "use Python's urllib.request; whether the network answers is another matter"},
      {"wget", "use Python's urllib.request; whether the network answers is another matter"},
      {"tar", "use Python's tarfile"},
      {"unzip", "use Python's zipfile"},
      {"zip", "use Python's zipfile"},
      {"jq", "use Python's json"},
      {"dd", "write files with Python"},
      {"echo", "write files with Python, print with its print"},
      {"printf", "write files with Python, print with its print"},
      {"tee", "write files with Python"},
      {"source", "start the interpreter of a virtual environment by its path, such as venv/bin/python"},
      {".", "start the interpreter of a virtual environment by its path, such as venv/bin/python"},
  };
  return ways;
}

// Whatever is on the list.
const std::map<std::string_view, std::string_view>& OtherWays() {
  static const std::map<std::string_view, std::string_view> ways = {
      {"sudo", "leave sudo out: nothing in the sandbox needs it"},
      {"sh", "give the commands themselves as the text"},
      {"bash", "give the commands themselves as the text"},
      {"env", "write NAME=value before the command"},
  };
  return ways;
}

std::string Listed(const RuleSet& rules) {
  const std::vector<std::string>& names = rules.allowed_commands();
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  if (names.size() == RuleSet::kMostNamed) all += " and more";
  return all;
}

}  // namespace

std::string AlternativeTo(std::string_view command, const RuleSet& rules) {
  std::string text;
  const std::string_view name = LastPart(command);
  const bool has_python = rules.AllowsProgram("python3");
  if (const auto way = WaysOfPython().find(name); has_python && way != WaysOfPython().end()) {
    text = way->second;
  } else if (const auto other = OtherWays().find(name); other != OtherWays().end()) {
    text = other->second;
  } else if (has_python && LastPart(FolderOf(command)) == "bin" && command.find('/') != std::string_view::npos) {
    text = "of a virtual environment, start its interpreter: bin/python -m " + std::string(name);
  }
  if (rules.allowed_commands().empty()) return text;
  return text + (text.empty() ? "" : "; ") + "commands that are allowed: " + Listed(rules);
}

std::string AlternativeTo(Action action, const RuleSet& rules) {
  constexpr std::size_t kMostFolders = 10;
  std::vector<std::string> folders;
  for (const Rule& rule : rules.rules()) {
    const bool allows = rule.effect == Effect::kAllow &&
                        std::find(rule.actions.begin(), rule.actions.end(), action) != rule.actions.end();
    for (const PathPattern& path : rule.paths) {
      if (!allows || path.kind != PathPattern::Kind::kBelow || folders.size() >= kMostFolders) continue;
      if (std::find(folders.begin(), folders.end(), path.text) == folders.end()) folders.push_back(path.text);
    }
  }
  if (folders.empty()) return {};
  std::string text = std::string(ActionName(action)) + " is allowed below";
  for (std::size_t i = 0; i < folders.size(); ++i) text += (i == 0 ? " " : ", ") + folders[i];
  return text;
}

std::string AlternativeToUnknown(const RuleSet& rules) {
  std::string text = "write each command with its name in plain letters, without a variable or a substitution for it";
  if (rules.AllowsProgram("python3")) text += "; put what needs more into a file, and run python3 FILE";
  return text;
}

}  // namespace caisson::policy
