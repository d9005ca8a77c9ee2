#include "caisson/policy/rule.h"

#include <array>

namespace caisson::policy {
namespace {

constexpr std::array<std::string_view, kActionCount> kActionNames = {
    "file.read", "file.write", "file.delete", "process.exec", "process.signal", "network.connect", "secret.use"};

}  // namespace

std::string_view EffectName(Effect effect) {
  switch (effect) {
    case Effect::kAllow:
      return "allow";
    case Effect::kAsk:
      return "ask";
    case Effect::kDeny:
      break;
  }
  return "deny";
}

std::string_view ActionName(Action action) { return kActionNames.at(static_cast<std::size_t>(action)); }

std::optional<Action> ActionOf(std::string_view name) {
  for (std::size_t i = 0; i < kActionNames.size(); ++i) {
    if (kActionNames.at(i) == name) return static_cast<Action>(i);
  }
  return std::nullopt;
}

std::string CommandPattern::text() const {
  if (is_workspace_programs) return "./**";
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : " ") + word;
  return all;
}

}  // namespace caisson::policy
