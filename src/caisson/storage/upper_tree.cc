#include "caisson/storage/upper_tree.h"

namespace caisson::storage {

UpperEntry ReadUpper(TreeReader& upper, const std::string& path, const FileStamp& stamp, ReadBudget& budget) {
  UpperEntry entry;
  entry.stamp = stamp;
  if (!stamp.IsDirectory()) return entry;
  entry.is_opaque = upper.Attribute(path, "trusted.overlay.opaque") == "y";
  entry.redirect = upper.Attribute(path, "trusted.overlay.redirect");
  for (const std::string& name : upper.Names(path)) {
    const std::string child_path = JoinPath(path, name);
    if (budget.entries == 0 || child_path.size() > kMaxPath) {
      budget.exceeded = true;
      continue;
    }
    const auto child = upper.Stamp(child_path);
    if (!child) continue;  // gone meanwhile
    --budget.entries;
    if (entry.children == nullptr) entry.children = std::make_unique<UpperChildren>();
    entry.children->emplace(name, UpperEntry{.stamp = *child, .is_opaque = false, .redirect = {}, .children = nullptr});
  }
  if (entry.children == nullptr) return entry;
  for (auto& [name, child] : *entry.children) {
    if (child.stamp.IsDirectory()) child = ReadUpper(upper, JoinPath(path, name), child.stamp, budget);
  }
  return entry;
}

}  // namespace caisson::storage
