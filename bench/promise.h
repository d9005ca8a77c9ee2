#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "bench/rounds.h"

namespace caisson::bench {

// A promise with a number: the median of one series against the median of another, from the same run.
struct Promise {
  std::string_view text;
  std::string_view series;
  std::string_view base;
  double limit = 0;  // the largest ratio that keeps it
};

// kMissed also when a sample of either series failed; kNotMeasured when either was skipped or left out.
enum class Standing { kMet, kMissed, kNotMeasured };

struct Verdict {
  Promise promise;
  std::optional<double> ratio;
  Standing standing = Standing::kNotMeasured;
};

const std::vector<Promise>& AllPromises();

// The stable name in JSON: "met", "missed", "not_measured".
std::string_view StandingName(Standing standing);

// The median of series `name` over that of `base`; absent unless both have one.
std::optional<double> MedianRatio(const std::vector<Series>& series, std::string_view name, std::string_view base);

std::vector<Verdict> Judge(const std::vector<Series>& series, const std::vector<Promise>& promises);

}  // namespace caisson::bench
