#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "caisson/base/error.h"

namespace caisson::bench {

struct Summary {
  std::chrono::nanoseconds min{};
  std::chrono::nanoseconds p50{};
  std::chrono::nanoseconds p99{};
};

// What the repetitions of one variant took. A failed repetition has no time; the first one's reason is kept.
class Samples {
 public:
  void Add(std::chrono::nanoseconds sample) { times_.push_back(sample); }
  void AddFailure(const Error& error);

  std::size_t count() const { return times_.size(); }
  std::size_t failures() const { return failures_; }
  // In the order they were taken.
  const std::vector<std::chrono::nanoseconds>& times() const { return times_; }
  // Empty when nothing failed.
  const std::string& first_failure() const { return first_failure_; }

  // Absent without a successful sample.
  std::optional<Summary> Summarize() const;

 private:
  std::vector<std::chrono::nanoseconds> times_;
  std::size_t failures_ = 0;
  std::string first_failure_;
};

// The nearest-rank percentile: the smallest sample that at least `percent` (1..100) of all samples do not exceed.
// `sorted` is ascending and not empty.
std::chrono::nanoseconds Percentile(const std::vector<std::chrono::nanoseconds>& sorted, std::size_t percent);

// "message: cause", on one line.
std::string Describe(const Error& error);

}  // namespace caisson::bench
