#include "caisson/daemon/options.h"

#include <gtest/gtest.h>

namespace caisson::daemon {
namespace {

TEST(ReadOptions, HasDefaults) {
  const auto options = ReadOptions({});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->socket, "/run/caisson/caisson.sock");
  EXPECT_FALSE(options->tcp_port);
  EXPECT_FALSE(options->idle_exit);
}

TEST(ReadOptions, ReadsAll) {
  const auto options = ReadOptions(
      {"--socket", "/s", "--listen", "127.0.0.1:7777", "--idle-exit", "15m", "--data", "/d", "--runtime", "/r"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->socket, "/s");
  EXPECT_EQ(options->tcp_port, 7777);
  EXPECT_EQ(options->idle_exit, std::chrono::minutes(15));
  EXPECT_EQ(options->data_directory, "/d");
  EXPECT_EQ(options->runtime_directory, "/r");
}

TEST(ReadOptions, RefusesWhatItDoesNotKnow) {
  const std::vector<std::vector<std::string>> wrong = {
      {"--socke", "/s"},          {"--socket"},           {"--listen", "0.0.0.0:7777"}, {"--listen", "127.0.0.1:70000"},
      {"--listen", "127.0.0.1:"}, {"--idle-exit", "soon"}};
  for (const auto& arguments : wrong) {
    const auto options = ReadOptions(arguments);
    ASSERT_FALSE(options) << arguments.front();
    EXPECT_EQ(options.error().code(), Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace caisson::daemon
