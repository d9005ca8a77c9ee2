#include "caisson/record/time_text.h"

#include <gtest/gtest.h>

namespace caisson::record {
namespace {

using std::chrono::milliseconds;

TEST(TimeTextTest, IsUtcWithMilliseconds) {
  EXPECT_EQ(TimeText(Time()), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(TimeText(Time(milliseconds(1798761599999))), "2026-12-31T23:59:59.999Z");
  EXPECT_EQ(TimeText(Time(milliseconds(1709164800007))), "2024-02-29T00:00:00.007Z");
}

TEST(TimeTextTest, StaysInsideFourDigitYears) {
  EXPECT_EQ(TimeText(Time(milliseconds(-1))), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(TimeText(Time(milliseconds(INT64_MAX))), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(TimeText(Time(milliseconds(INT64_MIN))), "1970-01-01T00:00:00.000Z");
}

}  // namespace
}  // namespace caisson::record
