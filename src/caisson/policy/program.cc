#include "caisson/policy/program.h"
#include "caisson/base/path_text.h"

#include <algorithm>

#include "caisson/os/program_index.h"
#include "caisson/plan/limits.h"

namespace caisson::policy {
namespace {

// python, python3, python3.11
bool IsPython(std::string_view name) {
  if (name == "python" || name == "python3") return true;
  return name.starts_with("python3.") && name.size() > 8 &&
         name.find_first_not_of("0123456789", 8) == std::string_view::npos;
}

void AddPythons(Program& program, std::string_view name) {
  program.names = {std::string(name)};
  for (const char* other : {"python3", "python"}) {
    if (name != other) program.names.emplace_back(other);
  }
}

// python3.11 is what python3 is a link to.
void NameAs(Program& program, std::string_view name) {
  program.names = {std::string(name)};
  if (IsPython(name) && name.starts_with("python3.")) program.names.emplace_back("python3");
}

void AddPossible(Program& program, std::string_view name) {
  const auto end = program.possible_names.end();
  if (std::find(program.possible_names.begin(), end, name) == end) program.possible_names.emplace_back(name);
}

// Where `name` is looked up to, with links followed.
std::optional<std::string> Lookup(std::string_view name, const Resolve& resolve) {
  for (const char* folder : os::kSearchFolders) {
    if (auto found = resolve(std::string(folder) + "/" + std::string(name))) return found;
  }
  return std::nullopt;
}

// A program may behave by the name it is called by, so that a link of another name is another program.
void NameByTarget(Program& program, std::string_view called, const std::string& target, const Resolve& resolve) {
  const std::string_view last = LastPart(target);
  AddPossible(program, last);
  if (!IsSearchFolder(FolderOf(target))) {
    program.why = "it leads to " + target;
    return;
  }
  if (IsPython(called) && IsPython(last)) {
    AddPythons(program, last);
  } else if (called == last || Lookup(called, resolve) == target) {
    program.names = {std::string(called)};
  } else {
    program.why = "it leads to " + target + " under another name";
  }
}

}  // namespace

bool IsSearchFolder(std::string_view folder) {
  return std::find(os::kSearchFolders.begin(), os::kSearchFolders.end(), folder) != os::kSearchFolders.end();
}

Program ProgramOf(std::string_view word, const std::optional<std::string>& folder, const Resolve& resolve) {
  Program program;
  if (word.find('/') == std::string_view::npos) {
    NameAs(program, word);
    program.possible_names = program.names;
    return program;
  }
  const std::string_view called = LastPart(word);
  AddPossible(program, called);
  if (!folder && word.front() != '/') {
    program.may_be_below_workspace = true;
    program.why = "the folder that it is looked for in is not known before it runs";
    return program;
  }
  program.path = NormalPath(folder.value_or("/"), word);
  if (IsNormalPath(word) && IsSearchFolder(FolderOf(word))) {
    NameAs(program, called);
    return program;
  }
  AddPossible(program, LastPart(program.path));
  program.is_below_workspace = IsBelow(program.path, plan::kAgentWorkspace);
  program.may_be_below_workspace = program.is_below_workspace;
  const std::optional<std::string> target = resolve ? resolve(program.path) : std::nullopt;
  if (target) {
    program.is_below_workspace = IsBelow(*target, plan::kAgentWorkspace);
    program.may_be_below_workspace = program.may_be_below_workspace || program.is_below_workspace;
    program.target = *target;
    NameByTarget(program, called, *target, resolve);
    return program;
  }
  program.why = "it is a path, and no name of a listed program";
  if (program.is_below_workspace && IsPython(called) && LastPart(FolderOf(program.path)) == "bin") {
    AddPythons(program, called);
    program.why.clear();
  }
  return program;
}

}  // namespace caisson::policy
