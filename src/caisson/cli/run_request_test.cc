#include "caisson/cli/run_request.h"

#include <gtest/gtest.h>

namespace caisson::cli {
namespace {

using Arguments = std::vector<std::string>;

Result<RunRequest> Read(Arguments options, Arguments program = {"true"},
                        std::map<std::string, std::string> variables = {}) {
  Arguments arguments = {"run"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.emplace_back("--");
  arguments.insert(arguments.end(), program.begin(), program.end());
  const auto line = ParseCommandLine(arguments, [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
  if (!line) return Fail(line.error());
  return ReadRunRequest(*line);
}

TEST(ReadRunRequest, DefaultsAreThoseOfTheLimits) {
  const auto request = Read({});
  ASSERT_TRUE(request) << request.error().message();
  EXPECT_EQ(request->argv, Arguments{"true"});
  EXPECT_EQ(request->limits.memory, GiB(2));
  EXPECT_EQ(request->limits.disk, GiB(5));
  EXPECT_EQ(request->limits.cpus.value, 2000U);
  EXPECT_EQ(request->limits.pids, 256U);
  EXPECT_EQ(request->timeout, std::chrono::seconds(30));
  EXPECT_EQ(request->user, sandbox::User::kAgent);
  EXPECT_EQ(request->storage, plan::Storage::kTmpfs);
  EXPECT_FALSE(request->image_directory);
  EXPECT_FALSE(request->workspace);
  EXPECT_EQ(request->output, Output::kPassThrough);
  EXPECT_EQ(request->terminal, Terminal::kNone);
  EXPECT_EQ(request->notices, Notices::kNormal);
}

TEST(ReadRunRequest, TakesEveryOption) {
  const auto request =
      Read({"--image", "/srv/root", "--workspace", "/w:ro", "--cpus",    "0.5",    "--memory",  "512MiB",
            "--disk",  "1GiB",      "--pids",      "64",    "--timeout", "250ms",  "--env",     "A=1",
            "--env",   "B=",        "--env",       "A=2=3", "--user",    "root",   "--network", "none",
            "--tier",  "process",   "--storage",   "tmpfs", "--json",    "--quiet"});
  ASSERT_TRUE(request) << request.error().message();
  EXPECT_EQ(*request->image_directory, "/srv/root");
  EXPECT_EQ(request->workspace->path, "/w");
  EXPECT_EQ(request->workspace->mode, plan::WorkspaceMode::kReadOnly);
  EXPECT_EQ(request->limits.cpus.value, 500U);
  EXPECT_EQ(request->limits.memory, MiB(512));
  EXPECT_EQ(request->limits.disk, GiB(1));
  EXPECT_EQ(request->limits.pids, 64U);
  EXPECT_EQ(request->timeout, std::chrono::milliseconds(250));
  const std::vector<std::pair<std::string, std::string>> env = {{"A", "2=3"}, {"B", ""}};
  EXPECT_EQ(request->env, env);
  EXPECT_EQ(request->user, sandbox::User::kRoot);
  EXPECT_EQ(request->storage, plan::Storage::kTmpfs);
  EXPECT_EQ(request->output, Output::kJson);
  EXPECT_EQ(request->notices, Notices::kQuiet);
}

TEST(ReadRunRequest, RefusesBadValuesNamingTheOption) {
  const std::vector<std::pair<std::string, Arguments>> cases = {
      {"--memory",
       {"5 g", "5G ", "0", "-1", "9223372036854775808", "18446744073709551616", "NaN", "1e400", "", "4095KiB"}},
      {"--disk", {"0", "1023KiB", "-5GiB", "inf"}},
      {"--cpus", {"0", "-1", "NaN", "1e400", "1025", ""}},
      {"--pids", {"0", "-1", "4194305", "1.5", "NaN", "18446744073709551616", ""}},
      {"--timeout", {"0s", "30", "-1s", "8785h", ""}},
      {"--user", {"4294967296", "0", "Agent", ""}},
      {"--network", {"host", ""}},
      {"--tier", {"gvisor", ""}},
      {"--storage", {"zfs", ""}},
      {"--image", {""}},
      {"--workspace", {"", ":rw", "/w:rwx", "/w:", "/a:b"}},
      {"--env", {"PATH", "=x", "", std::string(300, 'n') + "=1"}},
  };
  for (const auto& [option, texts] : cases) {
    for (const std::string& text : texts) {
      const auto request = Read({option, text});
      ASSERT_FALSE(request) << option << " '" << text << "'";
      EXPECT_EQ(request.error().code(), Code::kInvalidArgument);
      EXPECT_NE(request.error().message().find(option), std::string::npos) << request.error().message();
      EXPECT_FALSE(request.error().cause().empty()) << option << " '" << text << "'";
    }
  }
}

TEST(ReadRunRequest, TakesThePolicyThatIsNamed) {
  EXPECT_FALSE(Read({})->policy) << "nothing is refused";
  EXPECT_EQ(*Read({"--policy", "minimal"})->policy, "minimal");
  EXPECT_EQ(*Read({"--policy", "minimal", "--policy=./strict"})->policy, "./strict") << "the last one counts";
  EXPECT_FALSE(Read({}, {"true"}, {{"CAISSON_POLICY", "minimal"}})->policy) << "no variable chooses it";
  EXPECT_FALSE(Read({"--polic", "minimal"}));
}

TEST(ReadRunRequest, KeepsOnDiskUnlessToldOtherwise) {
  EXPECT_EQ(Read({})->after, After::kDestroy);
  EXPECT_EQ(Read({"--keep"})->after, After::kKeep);
  EXPECT_EQ(Read({"--keep"})->storage, plan::Storage::kBtrfs);
  EXPECT_EQ(Read({"--keep", "--storage", "directory"})->storage, plan::Storage::kDirectory);
  EXPECT_FALSE(Read({"--keep", "--storage", "tmpfs"}));
}

TEST(ReadRunRequest, RefusesADiskLimitThatADirectoryCannotHold) {
  EXPECT_EQ(Read({"--storage", "directory"})->storage, plan::Storage::kDirectory);
  EXPECT_EQ(Read({"--storage", "btrfs"})->storage, plan::Storage::kBtrfs);
  const auto request = Read({"--storage", "directory", "--disk", "1GiB"});
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().code(), Code::kInvalidArgument);
  EXPECT_FALSE(request.error().remediation().empty());
}

TEST(ReadRunRequest, NamesTheVariableWhenItsValueIsBad) {
  const auto request = Read({}, {"true"}, {{"CAISSON_MEMORY", "lots"}});
  ASSERT_FALSE(request);
  EXPECT_NE(request.error().message().find("CAISSON_MEMORY"), std::string::npos);
  EXPECT_TRUE(Read({"--memory", "1GiB"}, {"true"}, {{"CAISSON_MEMORY", "lots"}})) << "the option beats it";
  EXPECT_EQ(Read({}, {"true"}, {{"CAISSON_MEMORY", "8MiB"}})->limits.memory, MiB(8));
}

TEST(ReadRunRequest, StatesTheRangeOfMemory) {
  EXPECT_TRUE(Read({"--memory", "4MiB"}));
  const auto request = Read({"--memory", "4194303"});
  ASSERT_FALSE(request);
  EXPECT_NE(request.error().cause().find("from 4MiB"), std::string::npos);
}

TEST(ReadRunRequest, NeedsACommand) {
  for (const Arguments& program : {Arguments{}, Arguments{""}}) {
    const auto request = Read({}, program);
    ASSERT_FALSE(request);
    EXPECT_EQ(request.error().message(), "the command to run is missing");
  }
  CommandLine without_separator;
  without_separator.command = CommandId::kRun;
  EXPECT_FALSE(ReadRunRequest(without_separator));
}

TEST(ReadRunRequest, BoundsArgumentsAndVariables) {
  EXPECT_TRUE(Read({}, {"true", std::string(plan::kLongestArgument, 'a')}));
  EXPECT_FALSE(Read({}, {"true", std::string(plan::kLongestArgument + 1, 'a')}));
  EXPECT_FALSE(Read({"--env", "A=" + std::string(plan::kLongestArgument, 'a')}));

  Arguments large(9, std::string(plan::kLongestArgument, 'a'));
  large.insert(large.begin(), "true");
  EXPECT_FALSE(Read({}, large));

  Arguments variables;
  for (std::size_t i = 0; i < plan::kMostVariables; ++i) variables.push_back("--env=V" + std::to_string(i) + "=");
  EXPECT_TRUE(Read(variables));
  variables.emplace_back("--env=ONE_MORE=");
  EXPECT_FALSE(Read(variables));
}

TEST(ReadRunRequest, RefusesFlagsThatExcludeEachOther) {
  EXPECT_FALSE(Read({"--quiet", "--verbose"}));
  EXPECT_FALSE(Read({"--tty", "--json"}));
  EXPECT_EQ(Read({"--tty"})->terminal, Terminal::kTty);
  EXPECT_EQ(Read({"--verbose"})->notices, Notices::kVerbose);
}

TEST(ParseWorkspace, TakesAModeFromTheEndOnly) {
  const auto parse = [](const char* text) { return ParseWorkspace({text, "--workspace"}); };
  EXPECT_EQ(parse("/w")->mode, plan::WorkspaceMode::kCopy);
  EXPECT_EQ(parse("/w:copy")->mode, plan::WorkspaceMode::kCopy);
  EXPECT_EQ(parse("/w:rw")->mode, plan::WorkspaceMode::kReadWrite);
  EXPECT_EQ(parse("/a:b:rw")->path, "/a:b");
  EXPECT_EQ(parse("/rw:ro:copy")->path, "/rw:ro");
  EXPECT_EQ(parse("/a:b/c")->path, "/a:b/c");
  EXPECT_EQ(parse(".")->path, ".");
  const auto unknown = parse("/a:b");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().cause().find("copy, rw, ro"), std::string::npos);
}

TEST(DescribeValues, SaysWhereEachCameFrom) {
  const auto line = ParseCommandLine({"run", "--cpus", "1", "--env", "SECRET=x", "--", "true"}, [](const char* name) {
    return std::string(name) == "CAISSON_PIDS" ? "9" : nullptr;
  });
  ASSERT_TRUE(line);
  const Arguments lines = DescribeValues(*line);
  const auto has = [&](const char* text) { return std::find(lines.begin(), lines.end(), text) != lines.end(); };
  EXPECT_TRUE(has("cpus 1 (--cpus)"));
  EXPECT_TRUE(has("pids 9 (CAISSON_PIDS)"));
  EXPECT_TRUE(has("memory 2GiB (default)"));
  for (const std::string& text : lines) EXPECT_EQ(text.find("SECRET"), std::string::npos);
}

}  // namespace
}  // namespace caisson::cli
