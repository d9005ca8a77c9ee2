#include "bench/promise.h"

#include <algorithm>

namespace caisson::bench {
namespace {

const Series* Find(const std::vector<Series>& series, std::string_view name) {
  const auto found = std::find_if(series.begin(), series.end(), [name](const Series& one) { return one.name == name; });
  return found == series.end() ? nullptr : &*found;
}

bool HasFailures(const std::vector<Series>& series, std::string_view name) {
  const auto* found = Find(series, name);
  return found != nullptr && found->samples.failures() > 0;
}

}  // namespace

const std::vector<Promise>& AllPromises() {
  static const std::vector<Promise> kPromises = {
      {"create, true, destroy / floor", "engine_cold", "floor", 1.6},
      {"create, true, destroy / bubblewrap", "engine_cold", "bubblewrap", 0.6},
      {"the same after a quiet second / floor", "engine_cold_quiet", "floor_quiet", 1.6},
      {"the same after a quiet second / bubblewrap", "engine_cold_quiet", "bubblewrap_quiet", 0.6},
      {"caisson run -- true / bubblewrap", "run_cold", "bubblewrap", 1.5},
      {"true in a running sandbox / fork+exec", "exec_running", "fork_exec", 1.3},
  };
  return kPromises;
}

std::string_view StandingName(Standing standing) {
  switch (standing) {
    case Standing::kMet:
      return "met";
    case Standing::kMissed:
      return "missed";
    case Standing::kNotMeasured:
      break;
  }
  return "not_measured";
}

std::optional<double> MedianRatio(const std::vector<Series>& series, std::string_view name, std::string_view base) {
  const auto* measured = Find(series, name);
  const auto* against = Find(series, base);
  if (measured == nullptr || against == nullptr) return std::nullopt;
  const auto numerator = measured->samples.Summarize();
  const auto denominator = against->samples.Summarize();
  if (!numerator || !denominator || denominator->p50.count() == 0) return std::nullopt;
  return static_cast<double>(numerator->p50.count()) / static_cast<double>(denominator->p50.count());
}

std::vector<Verdict> Judge(const std::vector<Series>& series, const std::vector<Promise>& promises) {
  std::vector<Verdict> verdicts;
  for (const auto& promise : promises) {
    Verdict verdict{.promise = promise, .ratio = MedianRatio(series, promise.series, promise.base)};
    if (HasFailures(series, promise.series) || HasFailures(series, promise.base)) {
      verdict.standing = Standing::kMissed;
    } else if (verdict.ratio) {
      verdict.standing = *verdict.ratio <= promise.limit ? Standing::kMet : Standing::kMissed;
    }
    verdicts.push_back(verdict);
  }
  return verdicts;
}

}  // namespace caisson::bench
