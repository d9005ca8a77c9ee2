#include "bench/promise.h"

#include <gtest/gtest.h>

namespace caisson::bench {
namespace {

Series Measured(std::string name, int median) {
  Series series;
  series.name = std::move(name);
  series.samples.Add(std::chrono::nanoseconds(median));
  return series;
}

const std::vector<Promise> kPromise = {{"a / b", "a", "b", 1.5}};

TEST(JudgeTest, MeetsAtTheLimitAndMissesAboveIt) {
  EXPECT_EQ(Judge({Measured("a", 150), Measured("b", 100)}, kPromise)[0].standing, Standing::kMet);
  EXPECT_EQ(Judge({Measured("a", 151), Measured("b", 100)}, kPromise)[0].standing, Standing::kMissed);
}

TEST(JudgeTest, ReportsTheRatioOfTheMedians) {
  const auto verdicts = Judge({Measured("a", 50), Measured("b", 100)}, kPromise);
  ASSERT_TRUE(verdicts[0].ratio.has_value());
  EXPECT_DOUBLE_EQ(*verdicts[0].ratio, 0.5);
}

TEST(JudgeTest, DoesNotJudgeWhatWasNotMeasured) {
  EXPECT_EQ(Judge({Measured("a", 1)}, kPromise)[0].standing, Standing::kNotMeasured);
  Series skipped;
  skipped.name = "b";
  skipped.skipped = "absent";
  EXPECT_EQ(Judge({Measured("a", 1), skipped}, kPromise)[0].standing, Standing::kNotMeasured);
}

TEST(JudgeTest, OneFailedSampleBreaksThePromise) {
  auto failing = Measured("a", 1);
  failing.samples.AddFailure(Error(Code::kInternal, "broken"));
  EXPECT_EQ(Judge({failing, Measured("b", 100)}, kPromise)[0].standing, Standing::kMissed);
}

TEST(AllPromisesTest, EveryLimitIsPositive) {
  for (const auto& promise : AllPromises()) EXPECT_GT(promise.limit, 0) << promise.text;
}

}  // namespace
}  // namespace caisson::bench
