#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/rounds.h"

namespace caisson::bench {

// How two series of the same run are compared.
enum class Rule {
  kMedians,  // the median of one over the median of the other
  kPairs,    // the median of the ratios of samples of the same round: for small differences on a machine that drifts
};

// A promise with a number: one series against another.
struct Promise {
  std::string text;
  std::string series;
  std::string base;
  std::optional<double> limit;  // the largest ratio that keeps it; absent: told, but not promised
  Rule rule = Rule::kMedians;
};

// kMissed also when a sample of either series failed; kNotMeasured when either was skipped or left out.
enum class Standing { kMet, kMissed, kNotMeasured, kNotPromised };

struct Verdict {
  Promise promise;
  std::optional<double> ratio;
  std::optional<std::chrono::nanoseconds> extra;  // with kPairs: the median of the differences
  Standing standing = Standing::kNotMeasured;
};

const std::vector<Promise>& AllPromises();

// The stable name in JSON: "met", "missed", "not_measured", "not_promised".
std::string_view StandingName(Standing standing);

// The median of series `name` over that of `base`; absent unless both have one.
std::optional<double> MedianRatio(const std::vector<Series>& series, std::string_view name, std::string_view base);

// Of samples of the same round; absent unless the series have as many, and none failed.
struct PairSummary {
  double ratio = 0;                  // the median
  std::chrono::nanoseconds extra{};  // the median of the differences
};
std::optional<PairSummary> ComparePairs(const std::vector<Series>& series, std::string_view name,
                                        std::string_view base);

std::vector<Verdict> Judge(const std::vector<Series>& series, const std::vector<Promise>& promises);

}  // namespace caisson::bench
