#include "caisson/policy/policy_digest.h"

#include <algorithm>
#include <vector>

#include "caisson/base/sha256.h"
#include "caisson/policy/zone.h"

namespace caisson::policy {
namespace {

// Parts with their lengths, so that no two sequences of parts give the same text.
class Written {
 public:
  void Add(std::string_view part) {
    text_ += std::to_string(part.size()) + ":";
    text_ += part;
  }
  void Add(std::int64_t number) { Add(std::to_string(number)); }
  // Order does not matter in any list of a rule.
  void AddAll(std::vector<std::string> parts) {
    std::sort(parts.begin(), parts.end());
    Add(static_cast<std::int64_t>(parts.size()));
    for (const std::string& part : parts) Add(part);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string PatternText(const PathPattern& path) { return std::to_string(static_cast<int>(path.kind)) + path.text; }

template <typename Things, typename ToText>
std::vector<std::string> Texts(const Things& things, ToText to_text) {
  std::vector<std::string> texts;
  for (const auto& thing : things) texts.emplace_back(to_text(thing));
  return texts;
}

std::int64_t Millis(const std::optional<Time>& time) { return time ? time->time_since_epoch().count() : -1; }

std::string RuleText(const Rule& rule) {
  Written out;
  out.Add(rule.name);
  out.Add(EffectName(rule.effect));
  out.AddAll(Texts(rule.actions, ActionName));
  out.AddAll(Texts(rule.paths, PatternText));
  out.AddAll(Texts(rule.commands, [](const CommandPattern& pattern) { return pattern.text(); }));
  for (const auto* list : {&rule.hosts, &rule.secrets, &rule.forbid_flags, &rule.require_flags, &rule.helpers}) {
    out.AddAll(*list);
  }
  out.Add(static_cast<std::int64_t>(rule.enforcement));
  if (rule.when) {
    out.Add(rule.when->days);
    out.Add(rule.when->from.count());
    out.Add(rule.when->to.count());
    out.Add(rule.when->zone->name());
  }
  out.Add(rule.when ? "when" : "always");
  for (const auto* time : {&rule.not_before, &rule.expires_at}) {
    out.Add(*time ? "at" : "never");
    out.Add(Millis(*time));
  }
  out.Add(rule.max_uses ? static_cast<std::int64_t>(*rule.max_uses) : 0);
  out.Add(rule.reason);
  // Only then, so that policies from before the key count their uses under the same digest.
  if (rule.on_end == OnEnd::kStop) out.Add("stop");
  return out.text();
}

}  // namespace

std::string DigestOf(const RuleSet& rules) {
  Written out;
  out.Add(EffectName(rules.default_effect()));
  out.AddAll(Texts(rules.rules(), RuleText));
  return Hex(Sha256Of(out.text()));
}

}  // namespace caisson::policy
