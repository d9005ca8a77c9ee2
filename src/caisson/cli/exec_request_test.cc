#include "caisson/cli/exec_request.h"

#include <gtest/gtest.h>

#include "caisson/cli/parse_for_test.h"

namespace caisson::cli {
namespace {

Result<ExecRequest> Read(std::vector<std::string> arguments, const std::map<std::string, std::string>& variables = {}) {
  arguments.insert(arguments.begin(), "exec");
  CAISSON_TRY(const CommandLine line, ParseForTest(arguments, variables));
  return ReadExecRequest(line);
}

TEST(ReadExecRequest, NeedsASandboxAndAProgram) {
  const auto request = Read({"web", "--", "ls", "--json"});
  ASSERT_TRUE(request) << request.error().message();
  EXPECT_EQ(request->sandbox, "web");
  EXPECT_EQ(request->start.argv, (std::vector<std::string>{"ls", "--json"}));
  EXPECT_EQ(request->start.user, "agent");
  EXPECT_FALSE(request->start.timeout);
  EXPECT_FALSE(request->start.cwd);
  EXPECT_EQ(request->forward, Forward::kInput);
  EXPECT_EQ(request->ends, Ends::kInForeground);
  EXPECT_EQ(request->output, Output::kPassThrough);
  EXPECT_FALSE(Read({"--", "ls"}));
  EXPECT_FALSE(Read({"web"}));
  EXPECT_FALSE(Read({"web", "--"}));
  EXPECT_FALSE(Read({"", "--", "ls"}));
  const auto no_separator = Read({"web", "ls"});
  ASSERT_FALSE(no_separator);
  EXPECT_NE(no_separator.error().remediation().find("-- ls"), std::string::npos) << no_separator.error().remediation();
}

TEST(ReadExecRequest, TakesEveryOption) {
  const auto request = Read({"--env", "B=2", "--env", "A=1", "--cwd", "/tmp", "--timeout", "2m", "--user", "root",
                             "--json", "--quiet", "--no-stdin", "web", "--", "true"});
  ASSERT_TRUE(request) << request.error().message();
  const std::vector<std::pair<std::string, std::string>> env = {{"A", "1"}, {"B", "2"}};
  EXPECT_EQ(request->start.env, env);
  EXPECT_EQ(request->start.cwd, "/tmp");
  EXPECT_EQ(request->start.timeout, std::chrono::minutes(2));
  EXPECT_EQ(request->start.user, "root");
  EXPECT_EQ(request->output, Output::kJson);
  EXPECT_EQ(request->notices, Notices::kQuiet);
  EXPECT_EQ(request->forward, Forward::kNothing);
}

TEST(ReadExecRequest, InTheBackgroundNothingIsForwarded) {
  const auto request = Read({"--background", "web", "--", "true"});
  ASSERT_TRUE(request);
  EXPECT_EQ(request->ends, Ends::kInBackground);
  EXPECT_EQ(request->forward, Forward::kNothing);
}

TEST(ReadExecRequest, RefusesBadValuesNamingTheOption) {
  for (const auto& [option, text] : std::vector<std::pair<std::string, std::string>>{
           {"--env", "A"}, {"--cwd", ""}, {"--timeout", "30"}, {"--user", "0"}}) {
    const auto request = Read({option, text, "web", "--", "true"});
    ASSERT_FALSE(request) << option;
    EXPECT_NE(request.error().message().find(option), std::string::npos) << request.error().message();
  }
  EXPECT_FALSE(Read({"--memory", "1GiB", "web", "--", "true"})) << "that is the sandbox's";
  EXPECT_FALSE(Read({"web", "--", std::string(plan::kLongestArgument + 1, 'a')}));
  const auto variable = Read({"web", "--", "true"}, {{"CAISSON_TIMEOUT", "5s"}});
  ASSERT_TRUE(variable);
  EXPECT_EQ(variable->start.timeout, std::chrono::seconds(5));
}

}  // namespace
}  // namespace caisson::cli
