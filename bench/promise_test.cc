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

Series InRounds(std::string name, const std::vector<int>& times) {
  Series series;
  series.name = std::move(name);
  for (const int time : times) series.samples.Add(std::chrono::nanoseconds(time));
  return series;
}

const std::vector<Promise> kPromise = {{"a / b", "a", "b", 1.5, Rule::kMedians}};
const std::vector<Promise> kPairPromise = {{"a / b", "a", "b", 1.5, Rule::kPairs}};
const std::vector<Promise> kToldOnly = {{"a / b", "a", "b", std::nullopt, Rule::kMedians}};

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

TEST(JudgeTest, ComparesSamplesOfTheSameRound) {
  // The machine was ten times as slow in the last two rounds of five.
  const std::vector<Series> drifting = {InRounds("a", {120, 120, 120, 1200, 1200}),
                                        InRounds("b", {100, 100, 100, 1000, 1000})};
  const auto verdicts = Judge(drifting, kPairPromise);
  ASSERT_TRUE(verdicts[0].ratio.has_value());
  ASSERT_TRUE(verdicts[0].extra.has_value());
  EXPECT_DOUBLE_EQ(*verdicts[0].ratio, 1.2);
  EXPECT_EQ(*verdicts[0].extra, std::chrono::nanoseconds(20));
  EXPECT_EQ(verdicts[0].standing, Standing::kMet);
  EXPECT_EQ(Judge({InRounds("a", {151, 151, 1}), InRounds("b", {100, 100, 100})}, kPairPromise)[0].standing,
            Standing::kMissed);
}

TEST(JudgeTest, HasNoPairsWhenARoundIsMissing) {
  EXPECT_EQ(Judge({InRounds("a", {1, 1}), InRounds("b", {1})}, kPairPromise)[0].standing, Standing::kNotMeasured);
  auto failing = InRounds("a", {1});
  failing.samples.AddFailure(Error(Code::kInternal, "broken"));
  EXPECT_EQ(Judge({failing, InRounds("b", {1})}, kPairPromise)[0].standing, Standing::kMissed);
}

TEST(JudgeTest, TellsWhatIsNotPromised) {
  const auto verdicts = Judge({Measured("a", 900), Measured("b", 100)}, kToldOnly);
  EXPECT_EQ(verdicts[0].standing, Standing::kNotPromised);
  ASSERT_TRUE(verdicts[0].ratio.has_value());
  EXPECT_DOUBLE_EQ(*verdicts[0].ratio, 9);
}

TEST(AllPromisesTest, EveryLimitIsPositive) {
  for (const auto& promise : AllPromises()) {
    EXPECT_GT(promise.limit.value_or(1), 0) << promise.text;
  }
}

}  // namespace
}  // namespace caisson::bench
