#pragma once

#include <set>
#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/os/program_index.h"
#include "caisson/policy/grant_set.h"
#include "caisson/policy/rule.h"

namespace caisson::policy {

// Finds the files that commands need to run: of each its program, what interprets it, and its helpers with theirs.
class ProgramGrants {
 public:
  // `denied`: names and absolute paths that nothing may run, not even as a helper.
  ProgramGrants(const os::ProgramIndex& index, const std::set<std::string>& denied, GrantSet& grants);

  // A name of the search path, or an absolute path. One that the image does not have grants nothing.
  void AllowCommand(const std::string& word, const std::vector<std::string>& helpers);
  // The shells and the loaders, without which hardly a program runs.
  void AllowBasis();
  // Errors: kUnsupported when a file that is many programs in one (busybox) may run under some of its names only.
  Status CheckNames() const;

 private:
  void Allow(const std::string& word);
  void AllowEntry(const os::ProgramIndex::Entry& entry);
  void AllowPattern(const std::string& text);
  // What the search path has by a name, or at an absolute path.
  std::vector<const os::ProgramIndex::Entry*> EntriesOf(const std::string& word) const;

  const os::ProgramIndex& index_;
  const std::set<std::string>& denied_;
  std::set<std::string> denied_files_;
  GrantSet& grants_;
  std::set<std::string> seen_;     // words whose files are granted
  std::vector<std::string> todo_;  // words whose files are to be granted
};

}  // namespace caisson::policy
