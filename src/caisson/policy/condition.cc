#include <algorithm>

#include "caisson/policy/decide.h"
#include "caisson/policy/kernel_terms.h"
#include "caisson/policy/moment_text.h"
#include "caisson/policy/window.h"

namespace caisson::policy {

std::optional<std::string> WhyNotNow(const Rule& rule, const Situation& situation) {
  if (rule.not_before && situation.now < *rule.not_before) return "it holds from " + MomentText(*rule.not_before);
  if (rule.expires_at && situation.now >= *rule.expires_at) return "it ended at " + MomentText(*rule.expires_at);
  if (rule.when && !Holds(*rule.when, situation.now)) return "it holds " + Describe(*rule.when) + " only";
  if (rule.max_uses) {
    const std::uint32_t used = situation.uses ? situation.uses(rule) : 0;
    if (used >= *rule.max_uses) {
      return "it was used " + (used == 1 ? std::string("once") : std::to_string(used) + " times") + ", which is all";
    }
  }
  return std::nullopt;
}

std::optional<Time> StopOf(const Rule& rule, Time now) {
  if (rule.on_end != OnEnd::kStop) return std::nullopt;
  std::optional<Time> end = rule.expires_at;
  if (rule.when) {
    const auto edge = NextEdge(*rule.when, now);
    if (edge && (!end || *edge < *end)) end = edge;
  }
  return end;
}

std::optional<Stop> StopOfFiles(const Policy& policy, Time now) {
  std::optional<Stop> first;
  for (const Rule& rule : policy.rules()) {
    if (rule.effect != Effect::kAllow || rule.on_end != OnEnd::kStop || rule.max_uses) continue;
    const bool is_about_files =
        Covers(rule, Action::kFileRead) || Covers(rule, Action::kFileWrite) || Covers(rule, Action::kFileDelete);
    if (!is_about_files || WhyNotNow(rule, {.now = now, .uses = {}, .resolve = {}})) continue;
    const auto end = StopOf(rule, now);
    if (end && (!first || *end < first->at)) first = Stop{.at = *end, .rule = &rule};
  }
  return first;
}

std::optional<Time> NextChange(const Policy& policy, Time now) {
  std::optional<Time> next;
  const auto consider = [&next, now](std::optional<Time> time) {
    if (time && *time > now && (!next || *time < *next)) next = time;
  };
  for (const Rule& rule : policy.rules()) {
    consider(rule.not_before);
    consider(rule.expires_at);
    const bool over = rule.expires_at && *rule.expires_at <= now;
    if (rule.when && !over) consider(NextEdge(*rule.when, now));
  }
  return next;
}

}  // namespace caisson::policy
