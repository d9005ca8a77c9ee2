#include "bench/statistics.h"

#include <gtest/gtest.h>

namespace caisson::bench {
namespace {

using std::chrono::nanoseconds;

std::vector<nanoseconds> OneTo(int last) {
  std::vector<nanoseconds> samples;
  for (int i = 1; i <= last; ++i) samples.emplace_back(i);
  return samples;
}

TEST(PercentileTest, TakesTheNearestRank) {
  EXPECT_EQ(Percentile(OneTo(100), 50), nanoseconds(50));
  EXPECT_EQ(Percentile(OneTo(100), 99), nanoseconds(99));
  EXPECT_EQ(Percentile(OneTo(100), 100), nanoseconds(100));
  EXPECT_EQ(Percentile(OneTo(10), 99), nanoseconds(10));
  EXPECT_EQ(Percentile(OneTo(5), 50), nanoseconds(3));
  EXPECT_EQ(Percentile(OneTo(4), 50), nanoseconds(2));
  EXPECT_EQ(Percentile(OneTo(1), 1), nanoseconds(1));
}

TEST(SamplesTest, SummarizesInAnyOrder) {
  Samples samples;
  for (const int value : {7, 3, 9, 1, 5}) samples.Add(nanoseconds(value));
  const auto summary = samples.Summarize();
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(summary->min, nanoseconds(1));
  EXPECT_EQ(summary->p50, nanoseconds(5));
  EXPECT_EQ(summary->p99, nanoseconds(9));
}

TEST(SamplesTest, HasNoSummaryWithoutSamples) {
  Samples samples;
  samples.AddFailure(Error(Code::kUnavailable, "gone"));
  EXPECT_FALSE(samples.Summarize().has_value());
}

TEST(SamplesTest, KeepsTheFirstFailureAndCountsAll) {
  Samples samples;
  samples.AddFailure(Error(Code::kUnavailable, "first").Because("one\nline"));
  samples.AddFailure(Error(Code::kInternal, "second"));
  EXPECT_EQ(samples.failures(), 2U);
  EXPECT_EQ(samples.count(), 0U);
  EXPECT_EQ(samples.first_failure(), "first: one line");
}

}  // namespace
}  // namespace caisson::bench
