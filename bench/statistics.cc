#include "bench/statistics.h"

#include <algorithm>

namespace caisson::bench {

void Samples::AddFailure(const Error& error) {
  if (failures_++ == 0) first_failure_ = Describe(error);
}

std::optional<Summary> Samples::Summarize() const {
  if (times_.empty()) return std::nullopt;
  auto sorted = times_;
  std::sort(sorted.begin(), sorted.end());
  return Summary{.min = sorted.front(), .p50 = Percentile(sorted, 50), .p99 = Percentile(sorted, 99)};
}

std::chrono::nanoseconds Percentile(const std::vector<std::chrono::nanoseconds>& sorted, std::size_t percent) {
  const std::size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

std::string Describe(const Error& error) {
  std::string text = error.message();
  if (!error.cause().empty()) text += ": " + error.cause();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace caisson::bench
