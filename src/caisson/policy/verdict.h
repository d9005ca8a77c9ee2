#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "caisson/policy/decide.h"
#include "caisson/policy/rule_set.h"

namespace caisson::policy {

// kTaken: every window, date and number of uses counts as one that holds, as for the examples of a policy file.
enum class Conditions : std::uint8_t { kJudged, kTaken };

// What the rules that are about one subject say together.
struct Verdict {
  Effect effect = Effect::kDeny;
  const Rule* rule = nullptr;  // the one that decides; nullptr: the default
  std::vector<Finding> findings;
};

// Weighs rules, and remembers those that the call rests on so far and that end.
class Scales {
 public:
  Scales(const RuleSet& rules, const Situation& situation, Conditions conditions)
      : rules_(rules), situation_(situation), conditions_(conditions) {}

  Verdict Weigh(std::string subject, std::span<const Match> matches) const;
  // The call goes on with this verdict.
  void Rest(const Verdict& verdict);
  const std::vector<const Rule*>& lent() const { return lent_; }
  const std::optional<Stop>& stop() const { return stop_; }

 private:
  std::optional<std::string> WhyNot(const Rule& rule) const;

  const RuleSet& rules_;
  const Situation& situation_;
  Conditions conditions_;
  std::map<const Rule*, std::uint32_t> in_this_call_;
  std::vector<const Rule*> lent_;
  std::optional<Stop> stop_;
};

}  // namespace caisson::policy
