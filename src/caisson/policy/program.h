#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/shell/shell.h"

namespace caisson::policy {

// Where the kernel looks a name up: the fixed PATH of a sandbox.
bool IsSearchFolder(std::string_view folder);

// What a command word may start.
struct Program {
  // The names that it counts as for a rule that allows: it is what they are looked up as.
  std::vector<std::string> names;
  // For one that asks or denies: what it could be called too.
  std::vector<std::string> possible_names;
  std::string path;    // as the word says, when it says where; IsNormalPath
  std::string target;  // what is there, with links followed; empty: nothing, as far as is known
  bool is_below_workspace = false;
  bool may_be_below_workspace = false;
  std::string why;  // it counts as no name; empty: it does
};

using Resolve = std::function<std::optional<std::string>(const std::string&)>;

// `word`: without a slash a name. A path counts as a name in three cases: it stands normalised in a folder of the
// search path; or it is called as the file that it leads to, there; or it looks like the interpreter of a virtual
// environment below the workspace, bin/python or bin/python3.N, and nothing is there yet: the kernel lets only links to
// programs that are granted run. `folder`: what a relative path stands in; absent: not known.
Program ProgramOf(std::string_view word, const std::optional<std::string>& folder, const Resolve& resolve);

}  // namespace caisson::policy
