#include "caisson/storage/upper_tree.h"

namespace caisson::storage {

void ReadOverlayMarks(TreeReader& upper, const std::string& path, UpperEntry& entry) {
  entry.is_opaque = upper.Attribute(path, "trusted.overlay.opaque") == "y";
  entry.redirect = upper.Attribute(path, "trusted.overlay.redirect");
}

UpperEntry* FindEntry(UpperEntry& root, std::string_view path) {
  UpperEntry* entry = &root;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (entry->children == nullptr) return nullptr;
    const auto found = entry->children->find(path.substr(0, slash));
    if (found == entry->children->end()) return nullptr;
    entry = &found->second;
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return entry;
}

UpperEntry ReadUpper(TreeReader& upper, const std::string& path, const FileStamp& stamp, ReadBudget& budget) {
  UpperEntry entry;
  entry.stamp = stamp;
  if (!stamp.IsDirectory()) return entry;
  ReadOverlayMarks(upper, path, entry);
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
