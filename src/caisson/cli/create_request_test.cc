#include "caisson/cli/create_request.h"

#include <gtest/gtest.h>

#include "caisson/cli/parse_for_test.h"

namespace caisson::cli {
namespace {

Result<CreateOptions> Read(std::vector<std::string> arguments,
                           const std::map<std::string, std::string>& variables = {}) {
  arguments.insert(arguments.begin(), "create");
  CAISSON_TRY(const CommandLine line, ParseForTest(arguments, variables));
  return ReadCreateOptions(line);
}

TEST(ReadCreateOptions, DefaultsAreThoseOfRunButForTheStorage) {
  const auto options = Read({});
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_FALSE(options->request.name);
  EXPECT_EQ(options->request.storage, "btrfs");
  EXPECT_EQ(options->request.memory, GiB(2));
  EXPECT_EQ(options->request.disk, GiB(5));
  EXPECT_EQ(options->request.cpus.value, 2000U);
  EXPECT_EQ(options->request.pids, 256U);
  EXPECT_EQ(options->request.command_timeout, std::chrono::seconds(30));
  EXPECT_FALSE(options->request.idle_timeout);
  EXPECT_FALSE(options->request.max_lifetime);
  EXPECT_FALSE(options->image_directory);
  EXPECT_FALSE(options->workspace);
}

TEST(ReadCreateOptions, TakesEveryOption) {
  const auto options = Read({"web",   "--image",        "/srv/root", "--workspace", "/w:ro",  "--cpus",
                             "0.5",   "--memory",       "512MiB",    "--disk",      "1GiB",   "--pids",
                             "64",    "--timeout",      "2m",        "--env",       "A=1",    "--storage",
                             "tmpfs", "--label",        "team=a=b",  "--label",     "empty=", "--idle-timeout",
                             "15m",   "--max-lifetime", "24h",       "--json",      "--host", "http://127.0.0.1:7777"});
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_EQ(options->request.name, "web");
  EXPECT_EQ(options->image_directory, "/srv/root");
  EXPECT_EQ(options->workspace->path, "/w");
  EXPECT_EQ(options->request.workspace_mode, "ro");
  EXPECT_EQ(options->request.cpus.value, 500U);
  EXPECT_EQ(options->request.memory, MiB(512));
  EXPECT_EQ(options->request.disk, GiB(1));
  EXPECT_EQ(options->request.pids, 64U);
  EXPECT_EQ(options->request.command_timeout, std::chrono::minutes(2));
  EXPECT_EQ(options->request.storage, "tmpfs");
  const std::map<std::string, std::string> labels = {{"team", "a=b"}, {"empty", ""}};
  EXPECT_EQ(options->request.labels, labels);
  EXPECT_EQ(options->request.idle_timeout, std::chrono::minutes(15));
  EXPECT_EQ(options->request.max_lifetime, std::chrono::hours(24));
}

TEST(ReadCreateOptions, TakesVariablesOfTheEnvironment) {
  const auto options = Read({}, {{"CAISSON_STORAGE", "directory"}, {"CAISSON_IDLE_TIMEOUT", "1h"}});
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_EQ(options->request.storage, "directory");
  EXPECT_EQ(options->request.disk.value, 0U) << "a folder is given no limit that it could not hold";
  EXPECT_EQ(options->request.idle_timeout, std::chrono::hours(1));
}

TEST(ReadCreateOptions, SaysWhereValuesCameFrom) {
  const auto options = Read({"--pids", "64", "--env", "A=1"}, {{"CAISSON_MEMORY", "1GiB"}});
  ASSERT_TRUE(options) << options.error().message();
  const auto& sources = options->request.sources;
  EXPECT_EQ(sources.at("pids"), "--pids");
  EXPECT_EQ(sources.at("env"), "--env");
  EXPECT_EQ(sources.at("memory_bytes"), "CAISSON_MEMORY");
  EXPECT_EQ(sources.at("cpus"), "default");
  EXPECT_EQ(sources.at("policy"), "default");
}

TEST(ShownSource, IsTextOfBoundedLength) {
  EXPECT_EQ(ShownSource("caisson.toml:14"), "caisson.toml:14");
  EXPECT_EQ(ShownSource("a\x1b.toml:1"), "a\\x1b.toml:1");
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "\u00e9/";
  const std::string shown = ShownSource(deep + "caisson.toml:14");
  EXPECT_LE(shown.size(), 255U);
  EXPECT_TRUE(shown.starts_with("...") && shown.ends_with("/caisson.toml:14")) << shown;
}

TEST(ReadCreateOptions, RefusesBadValuesNamingTheOption) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"--label", {"", "a", "=b", std::string(256, 'k') + "=v", "k=" + std::string(256, 'v')}},
      {"--idle-timeout", {"", "0s", "15", "-1s"}},
      {"--max-lifetime", {"9000h"}},
      {"--storage", {"zfs"}},
      {"--memory", {"1MiB"}},
      {"--workspace", {":ro"}},
      {"--image", {""}},
      {"--env", {"PATH"}},
  };
  for (const auto& [option, texts] : cases) {
    for (const std::string& text : texts) {
      const auto options = Read({option, text});
      ASSERT_FALSE(options) << option << " '" << text << "'";
      EXPECT_NE(options.error().message().find(option), std::string::npos) << options.error().message();
    }
  }
  EXPECT_FALSE(Read({"--storage", "directory", "--disk", "1GiB"}));
  std::vector<std::string> labels;
  for (int i = 0; i < 65; ++i) labels.push_back("--label=k" + std::to_string(i) + "=v");
  EXPECT_FALSE(Read(labels));
}

TEST(ReadCreateOptions, ANameIsALabelOfAHost) {
  for (const char* name : {"a", "web-7", "0"}) EXPECT_TRUE(Read({name})) << name;
  for (const std::string& name : {std::string("Web"), std::string("a_b"), std::string("a-"), std::string("a b"),
                                  std::string("\x1b[2J"), std::string(64, 'a')}) {
    EXPECT_FALSE(Read({name})) << name;
  }
  EXPECT_FALSE(Read({"a", "b"}));
  EXPECT_FALSE(Read({"--", "ls"})) << "create takes no program";
}

}  // namespace
}  // namespace caisson::cli
