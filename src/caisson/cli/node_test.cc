#include "caisson/cli/node.h"

#include <gtest/gtest.h>

#include "caisson/cli/parse_for_test.h"

namespace caisson::cli {
namespace {

Result<NodeAddress> Read(const std::vector<std::string>& arguments,
                         const std::map<std::string, std::string>& variables = {}) {
  CAISSON_TRY(const CommandLine line, ParseForTest(arguments, variables));
  return ReadNodeAddress(line, [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(ReadNodeAddress, OptionBeatsVariableBeatsDefault) {
  const auto by_default = Read({"list"});
  ASSERT_TRUE(by_default);
  EXPECT_EQ(by_default->chosen, NodeAddress::Chosen::kByDefault);
  EXPECT_EQ(by_default->endpoint.path, "/run/caisson/caisson.sock");
  const auto variable = Read({"list"}, {{"CAISSON_HOST", "http://127.0.0.1:7777"}, {"CAISSON_KEY", "k"}});
  ASSERT_TRUE(variable);
  EXPECT_EQ(variable->chosen, NodeAddress::Chosen::kByCaller);
  EXPECT_EQ(variable->endpoint.port, 7777);
  EXPECT_EQ(variable->endpoint.key, "k");
  const auto option = Read({"list", "--host", "unix:///x"}, {{"CAISSON_HOST", "http://127.0.0.1:7777"}});
  ASSERT_TRUE(option);
  EXPECT_EQ(option->endpoint.path, "/x");
}

TEST(ReadNodeAddress, NamesWhereABadOneCameFrom) {
  const auto variable = Read({"list"}, {{"CAISSON_HOST", "x"}});
  ASSERT_FALSE(variable);
  EXPECT_NE(variable.error().message().find("CAISSON_HOST"), std::string::npos);
  const auto option = Read({"list", "--host", "x"});
  ASSERT_FALSE(option);
  EXPECT_NE(option.error().message().find("--host"), std::string::npos);
}

TEST(ReadNodeAddress, EveryCommandThatAsksOneTakesAHost) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{{"create"},
                                                                                         {"exec", "a", "--", "b"},
                                                                                         {"list"},
                                                                                         {"inspect", "a"},
                                                                                         {"logs", "a"},
                                                                                         {"attach", "a", "b"},
                                                                                         {"pause", "a"},
                                                                                         {"resume", "a"},
                                                                                         {"stop", "a"},
                                                                                         {"delete", "a"},
                                                                                         {"copy", "a", "b:c"},
                                                                                         {"diff", "a"}}) {
    auto with_host = arguments;
    with_host.insert(with_host.begin() + 1, {"--host", "unix:///x"});
    EXPECT_TRUE(Read(with_host)) << arguments.front();
  }
  EXPECT_FALSE(Read({"run", "--host", "unix:///x", "--", "true"})) << "run needs no daemon";
}

}  // namespace
}  // namespace caisson::cli
