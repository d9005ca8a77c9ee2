#include "caisson/policy/kernel_terms.h"

#include <algorithm>

namespace caisson::policy {

bool Covers(const Rule& rule, Action action) {
  return std::find(rule.actions.begin(), rule.actions.end(), action) != rule.actions.end();
}

bool IsConditional(const Rule& rule) { return rule.when || rule.not_before || rule.expires_at || rule.max_uses; }

bool HasWorkspacePrograms(const Rule& rule) {
  return std::any_of(rule.commands.begin(), rule.commands.end(),
                     [](const CommandPattern& pattern) { return pattern.is_workspace_programs; });
}

std::string TreeOf(const PathPattern& pattern) {
  if (pattern.kind != PathPattern::Kind::kGlob) return pattern.text;
  const std::string plain = pattern.text.substr(0, pattern.text.find_first_of("*?"));
  const std::size_t slash = plain.rfind('/');
  return slash == 0 ? "/" : plain.substr(0, slash);
}

std::optional<TreeSet::Tree> TreeSet::Around(std::string path) const {
  while (path.size() > 1) {
    path.resize(std::max<std::size_t>(path.rfind('/'), 1));
    if (const auto found = trees_.find(path); found != trees_.end()) return Tree{found->first, found->second};
  }
  return std::nullopt;
}

}  // namespace caisson::policy
