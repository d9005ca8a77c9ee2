#include "caisson/base/nearest_name.h"

#include <gtest/gtest.h>

namespace caisson {
namespace {

const std::vector<std::string> kKnown = {"--memory", "--cpus", "--disk", "--tty", "--tier", "--timeout", "--env"};

TEST(NearestName, FindsAMistypedName) {
  EXPECT_EQ(NearestName("--memroy", kKnown), "--memory");
  EXPECT_EQ(NearestName("--mem0ry", kKnown), "--memory");
  EXPECT_EQ(NearestName("--cpu", kKnown), "--cpus");
  EXPECT_EQ(NearestName("--time-out", kKnown), "--timeout");
  EXPECT_EQ(NearestName("-tty", kKnown), "--tty");
  EXPECT_EQ(NearestName("--env", kKnown), "--env");
}

TEST(NearestName, FindsNothingThatIsFar) {
  EXPECT_EQ(NearestName("--privileged", kKnown), std::nullopt);
  EXPECT_EQ(NearestName("", kKnown), std::nullopt);
  EXPECT_EQ(NearestName("x", kKnown), std::nullopt);
  EXPECT_EQ(NearestName(std::string(1'000'000, 'm'), kKnown), std::nullopt);
  EXPECT_EQ(NearestName("--memory", {}), std::nullopt);
}

}  // namespace
}  // namespace caisson
