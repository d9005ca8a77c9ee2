#include "bench/work.h"

#include <gtest/gtest.h>

namespace caisson::bench {
namespace {

Result<WorkOrder> Parse(const std::vector<std::string>& arguments) {
  return ParseOrder({arguments.begin(), arguments.end()});
}

TEST(WorkOrderTest, ComesBackAsItWasFormatted) {
  const WorkOrder change{.work = {.kind = WorkKind::kChange, .files = 10, .lasts = std::chrono::milliseconds(10)},
                         .folder = "/tmp/now"};
  const WorkOrder read{.work = {.kind = WorkKind::kRead, .bytes = 8192, .block_bytes = 4096}, .folder = "/a b"};
  for (const WorkOrder& order : {change, read}) {
    const auto parsed = Parse(FormatOrder(order));
    ASSERT_TRUE(parsed.has_value());
    EXPECT_EQ(parsed->work, order.work);
    EXPECT_EQ(parsed->folder, order.folder);
  }
}

TEST(WorkOrderTest, RefusesWhatItCannotDo) {
  EXPECT_FALSE(Parse({}).has_value());
  EXPECT_FALSE(Parse({"dance", "/tmp", "1", "0", "0", "0"}).has_value());
  EXPECT_FALSE(Parse({"change", "/tmp", "-1", "0", "0", "0"}).has_value());
  // Blocks that never fill the file.
  EXPECT_FALSE(Parse({"write", "/tmp", "0", "0", "4097", "4096"}).has_value());
  EXPECT_FALSE(Parse({"read", "/tmp", "0", "0", "4096", "0"}).has_value());
  EXPECT_TRUE(Parse({"write", "/tmp", "0", "0", "8192", "4096"}).has_value());
}

TEST(WorkTimeTest, IsReadAsItWasPrinted) {
  const auto time = ParseWorkTime(FormatWorkTime(std::chrono::nanoseconds(1234)));
  ASSERT_TRUE(time.has_value());
  EXPECT_EQ(*time, std::chrono::nanoseconds(1234));
  for (const char* wrong : {"", "\n", "12x\n", "12\n\n"}) EXPECT_FALSE(ParseWorkTime(wrong).has_value()) << wrong;
}

}  // namespace
}  // namespace caisson::bench
