#include "bench/promise.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace caisson::bench {
namespace {

const Series* Find(const std::vector<Series>& series, std::string_view name) {
  const auto found = std::find_if(series.begin(), series.end(), [name](const Series& one) { return one.name == name; });
  return found == series.end() ? nullptr : &*found;
}

// As statistics.h's Percentile has it. `values` is not empty.
template <typename T>
T MiddleOf(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
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
      {"create, true with report, destroy / without", "engine_cold_report", "engine_cold", std::nullopt},
      {"create, true, destroy, directory / tmpfs", "engine_cold_directory", "engine_cold", std::nullopt},
      {"create, true, destroy, btrfs / tmpfs", "engine_cold_btrfs", "engine_cold", std::nullopt},
      {"true with report in a running sandbox / without", "exec_running_report", "exec_running", std::nullopt},
  };
  return kPromises;
}

std::string_view StandingName(Standing standing) {
  switch (standing) {
    case Standing::kMet:
      return "met";
    case Standing::kMissed:
      return "missed";
    case Standing::kNotPromised:
      return "not_promised";
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

std::optional<PairSummary> ComparePairs(const std::vector<Series>& series, std::string_view name,
                                        std::string_view base) {
  const auto* measured = Find(series, name);
  const auto* against = Find(series, base);
  if (measured == nullptr || against == nullptr || HasFailures(series, name) || HasFailures(series, base)) {
    return std::nullopt;
  }
  const auto& times = measured->samples.times();
  const auto& base_times = against->samples.times();
  if (times.size() != base_times.size() || times.empty()) return std::nullopt;
  std::vector<double> ratios;
  std::vector<std::chrono::nanoseconds> extras;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (base_times[i].count() <= 0) return std::nullopt;
    ratios.push_back(static_cast<double>(times[i].count()) / static_cast<double>(base_times[i].count()));
    extras.push_back(times[i] - base_times[i]);
  }
  return PairSummary{.ratio = MiddleOf(std::move(ratios)), .extra = MiddleOf(std::move(extras))};
}

std::vector<Verdict> Judge(const std::vector<Series>& series, const std::vector<Promise>& promises) {
  std::vector<Verdict> verdicts;
  for (const auto& promise : promises) {
    Verdict verdict{.promise = promise, .ratio = {}, .extra = {}};
    if (promise.rule == Rule::kMedians) {
      verdict.ratio = MedianRatio(series, promise.series, promise.base);
    } else if (const auto pairs = ComparePairs(series, promise.series, promise.base)) {
      verdict.ratio = pairs->ratio;
      verdict.extra = pairs->extra;
    }
    if (HasFailures(series, promise.series) || HasFailures(series, promise.base)) {
      verdict.standing = Standing::kMissed;
    } else if (verdict.ratio && !promise.limit) {
      verdict.standing = Standing::kNotPromised;
    } else if (verdict.ratio) {
      verdict.standing = *verdict.ratio <= *promise.limit ? Standing::kMet : Standing::kMissed;
    }
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

}  // namespace caisson::bench
