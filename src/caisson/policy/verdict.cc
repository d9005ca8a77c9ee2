#include "caisson/policy/verdict.h"

#include <utility>

namespace caisson::policy {
namespace {

// Among rules of one effect: an unlimited one first, so that no use is spent without need; then the one that lets what
// rests on it run longer.
bool Decides(const Rule& rule, Effect effect, const Verdict& so_far, Time now) {
  if (so_far.rule == nullptr || effect > so_far.effect) return true;
  if (effect < so_far.effect) return false;
  if (rule.max_uses.has_value() != so_far.rule->max_uses.has_value()) return !rule.max_uses;
  const auto stop_so_far = StopOf(*so_far.rule, now);
  if (!stop_so_far) return false;
  const auto stop = StopOf(rule, now);
  return !stop || *stop > *stop_so_far;
}

}  // namespace

std::optional<std::string> Scales::WhyNot(const Rule& rule) const {
  if (conditions_ == Conditions::kTaken) return std::nullopt;
  const auto used = in_this_call_.find(&rule);
  if (used == in_this_call_.end()) return WhyNotNow(rule, situation_);
  Situation later = situation_;
  later.uses = [this, used](const Rule& asked) {
    return (situation_.uses ? situation_.uses(asked) : 0) + used->second;
  };
  return WhyNotNow(rule, later);
}

Verdict Scales::Weigh(std::string subject, std::span<const Match> matches) const {
  Verdict verdict;
  for (const Match& match : matches) {
    const Rule& rule = *match.rule;
    Finding finding{.subject = subject,
                    .rule = rule.name,
                    .source = rule.source,
                    .effect = rule.effect,
                    .counts = true,
                    .why = rule.reason};
    if (!match.why_not.empty()) {
      finding.counts = false;
      finding.why = match.why_not;
    } else if (auto why_not = WhyNot(rule)) {
      // What is to be asked for is not opened to all because it may not be asked for now.
      finding.counts = rule.effect == Effect::kAsk;
      if (finding.counts) finding.effect = Effect::kDeny;
      finding.why = *std::move(why_not);
    }
    if (finding.counts && Decides(rule, finding.effect, verdict, situation_.now)) {
      verdict.effect = finding.effect;
      verdict.rule = &rule;
    }
    verdict.findings.push_back(std::move(finding));
  }
  if (verdict.rule == nullptr) {
    verdict.effect = rules_.default_effect();
    verdict.findings.push_back({.subject = std::move(subject),
                                .rule = {},
                                .source = rules_.name(),
                                .effect = verdict.effect,
                                .counts = true,
                                .why = "no rule is about it"});
  }
  return verdict;
}

void Scales::Rest(const Verdict& verdict) {
  if (verdict.rule == nullptr || verdict.effect == Effect::kDeny) return;
  const Rule& rule = *verdict.rule;
  // What the default allows goes on without the rule.
  const auto end = rules_.default_effect() == Effect::kAllow ? std::nullopt : StopOf(rule, situation_.now);
  if (end && (!stop_ || *end < stop_->at)) stop_ = Stop{.at = *end, .rule = &rule};
  if (rule.max_uses) ++in_this_call_[&rule];
  if (rule.max_uses || end) lent_.push_back(&rule);
}

}  // namespace caisson::policy
