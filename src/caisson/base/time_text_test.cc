#include "caisson/base/time_text.h"

#include <gtest/gtest.h>

namespace caisson {
namespace {

TEST(TimeText, IsUtcWithMilliseconds) {
  EXPECT_EQ(TimeText(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(TimeText(1'709'210'096'007), "2024-02-29T12:34:56.007Z");
  EXPECT_EQ(TimeText(-1), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace caisson
