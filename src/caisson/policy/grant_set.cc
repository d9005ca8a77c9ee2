#include "caisson/policy/grant_set.h"

#include <algorithm>

namespace caisson::policy {

using plan::FileGrant;
using plan::FileRights;

void GrantSet::Add(const std::string& path, FileRights rights, FileGrant::Reach reach) {
  rights_[{path, reach}] |= rights;
}

void GrantSet::AddProgram(const std::string& real_path) {
  Add(real_path, plan::kExecuteFile | plan::kReadFile, FileGrant::Reach::kItself);
}

bool GrantSet::IsProgram(const std::string& path) const {
  return std::binary_search(index_.programs.begin(), index_.programs.end(), path);
}

void GrantSet::AddReading(const std::string& folder) {
  if (read_.insert(folder).second) AddReadingOf(folder);
}

void GrantSet::AddReadingOf(const std::string& folder) {
  const auto split = index_.split.find(folder);
  if (split == index_.split.end()) {
    if (!IsProgram(folder)) Add(folder, plan::kReadFile | plan::kReadFolder);
    return;
  }
  // Names are no secret: the right to list holds below too.
  Add(folder, plan::kReadFolder);
  const std::string prefix = folder == "/" ? folder : folder + "/";
  for (const std::string& child : split->second) AddReadingOf(prefix + child);
}

std::vector<FileGrant> GrantSet::Take() {
  std::vector<FileGrant> grants;
  grants.reserve(rights_.size());
  for (const auto& [key, rights] : rights_) {
    grants.push_back({.path = key.first, .rights = rights, .reach = key.second});
  }
  rights_.clear();
  read_.clear();
  return grants;
}

}  // namespace caisson::policy
