#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caisson/os/program_index.h"
#include "caisson/plan/kernel_plan.h"

namespace caisson::policy {

// Grants of one plan, added up by path.
class GrantSet {
 public:
  explicit GrantSet(const os::ProgramIndex& index) : index_(index) {}

  void Add(const std::string& path, plan::FileRights rights,
           plan::FileGrant::Reach reach = plan::FileGrant::Reach::kBelow);
  // A program of the image: it may be executed, and read, which executing it through the loader takes too.
  void AddProgram(const std::string& real_path);
  // Reading what is below `folder`, around every program that AddProgram did not name.
  void AddReading(const std::string& folder);

  std::vector<plan::FileGrant> Take();

 private:
  bool IsProgram(const std::string& path) const;
  void AddReadingOf(const std::string& folder);

  const os::ProgramIndex& index_;
  std::map<std::pair<std::string, plan::FileGrant::Reach>, plan::FileRights> rights_;
  std::set<std::string> read_;  // folders that AddReading was asked for
};

}  // namespace caisson::policy
