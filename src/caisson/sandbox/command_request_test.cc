#include "caisson/sandbox/command_request.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <set>
#include <string>

namespace caisson::sandbox {
namespace {

CommandSpec MakeSpec(std::vector<std::string> argv = {"true"}) {
  CommandSpec spec;
  spec.argv = std::move(argv);
  return spec;
}

void ExpectRefused(const CommandSpec& spec) {
  const Result<proto::StartCommand> request = MakeStartCommand(spec);
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().code(), Code::kInvalidArgument);
  EXPECT_FALSE(request.error().message().empty());
}

// The value of a variable, which must be there once; "(none)" when it is not there.
std::string ValueOf(const proto::StartCommand& request, const std::string& name) {
  std::string value = "(none)";
  int count = 0;
  for (const std::string& entry : request.env()) {
    if (!entry.starts_with(name + "=")) continue;
    value = entry.substr(name.size() + 1);
    ++count;
  }
  EXPECT_LE(count, 1) << name;
  return value;
}

std::size_t SizeOf(const proto::StartCommand& request) {
  std::size_t size = 0;
  for (const std::string& text : request.argv()) size += text.size() + 1;
  for (const std::string& text : request.env()) size += text.size() + 1;
  return size;
}

// A command that is `size` bytes large in all.
CommandSpec MakeSpecOfSize(std::size_t size) {
  CommandSpec spec = MakeSpec();
  std::size_t left = size - SizeOf(*MakeStartCommand(spec));
  while (left > 0) {
    const std::size_t length = std::min(left - 1, kMaxArgument);
    spec.argv.emplace_back(length, 'x');
    left -= length + 1;
  }
  return spec;
}

TEST(MakeStartCommand, CarriesArgumentsFolderAndUser) {
  CommandSpec spec = MakeSpec({"printf", "%s", "", "two words", "\xff\n"});
  spec.cwd = "/somewhere";
  const Result<proto::StartCommand> request = MakeStartCommand(spec);
  ASSERT_TRUE(request);
  ASSERT_EQ(request->argv_size(), 5);
  EXPECT_EQ(request->argv(0), "printf");
  EXPECT_EQ(request->argv(2), "");
  EXPECT_EQ(request->argv(4), "\xff\n");
  EXPECT_EQ(request->cwd(), "/somewhere");
  EXPECT_EQ(request->id(), 1000U);
  EXPECT_FALSE(request->has_terminal());
  EXPECT_FALSE(request->has_file_operation());
}

TEST(MakeStartCommand, StartsInTheWorkspaceAsTheAgent) {
  const Result<proto::StartCommand> request = MakeStartCommand(MakeSpec());
  ASSERT_TRUE(request);
  EXPECT_EQ(request->cwd(), "/home/agent/workspace");
  EXPECT_EQ(ValueOf(*request, "HOME"), "/home/agent");
  EXPECT_EQ(ValueOf(*request, "USER"), "agent");
}

TEST(MakeStartCommand, StartsAsRootOnRequest) {
  CommandSpec spec = MakeSpec();
  spec.user = User::kRoot;
  const Result<proto::StartCommand> request = MakeStartCommand(spec);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->id(), 0U);
  EXPECT_EQ(ValueOf(*request, "HOME"), "/root");
  EXPECT_EQ(ValueOf(*request, "USER"), "root");
}

TEST(MakeStartCommand, GivesTheFixedEnvironmentAndNothingOfTheHosts) {
  ASSERT_EQ(setenv("CAISSON_TEST_OF_THE_HOST", "1", 1), 0);
  const Result<proto::StartCommand> request = MakeStartCommand(MakeSpec());
  ASSERT_TRUE(request);
  std::set<std::string> names;
  for (const std::string& entry : request->env()) names.insert(entry.substr(0, entry.find('=')));
  EXPECT_EQ(names, (std::set<std::string>{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "PYTHONUNBUFFERED",
                                          "PYTHONIOENCODING"}));
  EXPECT_EQ(ValueOf(*request, "LANG"), "C.UTF-8");
  EXPECT_EQ(ValueOf(*request, "TZ"), "UTC");
}

TEST(MakeStartCommand, SetsTermWithATerminalOnly) {
  CommandSpec spec = MakeSpec();
  EXPECT_EQ(ValueOf(*MakeStartCommand(spec), "TERM"), "(none)");
  spec.terminal = TerminalSize{.rows = 50, .columns = 132};
  const Result<proto::StartCommand> request = MakeStartCommand(spec);
  ASSERT_TRUE(request);
  EXPECT_NE(ValueOf(*request, "TERM"), "(none)");
  EXPECT_EQ(request->terminal().rows(), 50U);
  EXPECT_EQ(request->terminal().columns(), 132U);
}

TEST(MakeStartCommand, LetsTheCallerReplaceAndAddVariables) {
  CommandSpec spec = MakeSpec();
  spec.env = {{"PATH", "/only"}, {"NEW", "a=b"}, {"EMPTY", ""}, {"NEW", "last"}, {"odd name\n", "\xff"}};
  const Result<proto::StartCommand> request = MakeStartCommand(spec);
  ASSERT_TRUE(request);
  EXPECT_EQ(ValueOf(*request, "PATH"), "/only");
  EXPECT_EQ(ValueOf(*request, "NEW"), "last");
  EXPECT_EQ(ValueOf(*request, "EMPTY"), "");
  EXPECT_EQ(ValueOf(*request, "odd name\n"), "\xff");
  EXPECT_EQ(ValueOf(*request, "HOME"), "/home/agent");
}

TEST(MakeStartCommand, RefusesACommandWithoutAName) {
  ExpectRefused(MakeSpec({}));
  ExpectRefused(MakeSpec({""}));
  ExpectRefused(MakeSpec({"", "argument"}));
}

TEST(MakeStartCommand, RefusesZeroBytes) {
  const std::string zero("a\0b", 3);
  ExpectRefused(MakeSpec({zero}));
  ExpectRefused(MakeSpec({"true", zero}));
  CommandSpec spec = MakeSpec();
  spec.cwd = zero;
  ExpectRefused(spec);
  spec = MakeSpec();
  spec.env = {{zero, "value"}};
  ExpectRefused(spec);
  spec.env = {{"NAME", zero}};
  ExpectRefused(spec);
}

TEST(MakeStartCommand, RefusesAMalformedVariableName) {
  for (const char* name : {"", "=", "A=", "=A", "A=B"}) {
    CommandSpec spec = MakeSpec();
    spec.env = {{name, "value"}};
    ExpectRefused(spec);
  }
}

TEST(MakeStartCommand, TakesOneTextAsLongAsTheKernelDoes) {
  EXPECT_TRUE(MakeStartCommand(MakeSpec({"true", std::string(kMaxArgument, 'x')})));
  ExpectRefused(MakeSpec({"true", std::string(kMaxArgument + 1, 'x')}));
  CommandSpec spec = MakeSpec();
  spec.env = {{"A", std::string(kMaxArgument - 2, 'x')}};
  EXPECT_TRUE(MakeStartCommand(spec));
  spec.env = {{"A", std::string(kMaxArgument - 1, 'x')}};
  ExpectRefused(spec);
}

TEST(MakeStartCommand, TakesNoMoreThan1MiBTogether) {
  const CommandSpec largest = MakeSpecOfSize(kMaxArguments);
  const Result<proto::StartCommand> request = MakeStartCommand(largest);
  ASSERT_TRUE(request);
  EXPECT_EQ(SizeOf(*request), kMaxArguments);
  ExpectRefused(MakeSpecOfSize(kMaxArguments + 1));
  CommandSpec spec = largest;
  spec.env = {{"A", ""}};
  ExpectRefused(spec);
}

TEST(MakeStartCommand, TakesNoMoreThan10000Variables) {
  CommandSpec spec = MakeSpec();
  for (std::size_t i = 0; i < kMaxVariables; ++i) spec.env.emplace_back("V" + std::to_string(i), "");
  const Result<proto::StartCommand> request = MakeStartCommand(spec);
  ASSERT_TRUE(request);
  EXPECT_EQ(ValueOf(*request, "V9999"), "");
  spec.env.emplace_back("ONE_MORE", "");
  ExpectRefused(spec);
  spec.env.assign(200'000, {"A", ""});  // refused before any of it is searched
  ExpectRefused(spec);
}

TEST(IdOf, IsTheUsersIdInside) {
  EXPECT_EQ(IdOf(User::kAgent), 1000U);
  EXPECT_EQ(IdOf(User::kRoot), 0U);
}

}  // namespace
}  // namespace caisson::sandbox
