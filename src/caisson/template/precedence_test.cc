#include "caisson/template/precedence.h"

#include <gtest/gtest.h>

namespace caisson::templates {
namespace {

TEST(Merge, TakesTheStrongestAndKeepsItsSource) {
  const Layer options = {{"memory", {"1GiB", "--memory"}}};
  const Layer environment = {{"memory", {"2GiB", "CAISSON_MEMORY"}}, {"pids", {"9", "CAISSON_PIDS"}}};
  const Layer file = {
      {"memory", {"3GiB", "caisson.toml:3"}}, {"pids", {"8", "caisson.toml:4"}}, {"cpus", {"1", "caisson.toml:5"}}};
  const Layer profile = {{"cpus", {"2", "profile team"}}, {"policy", {"standard", "profile team"}}};
  const Layer defaults = {{"policy", {"open", "default"}}, {"timeout", {"30s", "default"}}};
  const Layer merged = Merge({options, environment, file, profile, {}, defaults});
  ASSERT_EQ(merged.size(), 5U);
  EXPECT_EQ(merged.at("memory").text, "1GiB");
  EXPECT_EQ(merged.at("memory").source, "--memory");
  EXPECT_EQ(merged.at("pids").source, "CAISSON_PIDS");
  EXPECT_EQ(merged.at("cpus").source, "caisson.toml:5");
  EXPECT_EQ(merged.at("policy").source, "profile team");
  EXPECT_EQ(merged.at("timeout").source, "default");
  EXPECT_TRUE(Merge({}).empty());
}

}  // namespace
}  // namespace caisson::templates
