#include "bench/work_series.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace caisson::bench {
namespace {

const WorkSeries* Find(const std::string& name) {
  const auto& all = AllWorkSeries();
  const auto found = std::find_if(all.begin(), all.end(), [&](const WorkSeries& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

TEST(WorkSeriesTest, EveryNameIsThereOnce) {
  std::set<std::string> names;
  for (const WorkSeries& one : AllWorkSeries()) EXPECT_TRUE(names.insert(one.name).second) << one.name;
}

TEST(WorkSeriesTest, EveryOrderIsOneThatIsAccepted) {
  for (const WorkSeries& one : AllWorkSeries()) {
    const auto arguments = FormatOrder({one.work, "/tmp"});
    EXPECT_TRUE(ParseOrder({arguments.begin(), arguments.end()}).has_value()) << one.name;
  }
}

TEST(WorkPromisesTest, ComparesSeriesThatDifferInOneThing) {
  ASSERT_FALSE(WorkPromises().empty());
  for (const Promise& promise : WorkPromises()) {
    const WorkSeries* series = Find(promise.series);
    const WorkSeries* base = Find(promise.base);
    ASSERT_NE(series, nullptr) << promise.text;
    ASSERT_NE(base, nullptr) << promise.text;
    EXPECT_NE(series->report != base->report, series->place != base->place) << promise.text;
    EXPECT_EQ(series->work, base->work) << promise.text;
    EXPECT_EQ(series->storage, base->storage) << promise.text;
    EXPECT_EQ(series->group, base->group) << promise.text;
    EXPECT_EQ(series->timed, base->timed) << promise.text;
    EXPECT_EQ(series->before, base->before) << promise.text;
    EXPECT_EQ(series->changed_before, base->changed_before) << promise.text;
  }
}

TEST(WorkPromisesTest, EverySeriesIsCompared) {
  std::set<std::string> compared;
  for (const Promise& promise : WorkPromises()) compared.insert({promise.series, promise.base});
  EXPECT_EQ(compared.size(), AllWorkSeries().size());
}

}  // namespace
}  // namespace caisson::bench
