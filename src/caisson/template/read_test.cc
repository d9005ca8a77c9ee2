#include "caisson/template/read.h"

#include <gtest/gtest.h>

namespace caisson::templates {
namespace {

constexpr std::string_view kWhole = R"(version   = 1
image     = "host"
tier      = "auto"
user      = "agent"
workspace = "/home/agent/workspace"
profile   = "personal"
policy    = "policy.toml"
toolset   = "coding"
on_end    = "keep"
idle_timeout = "15m"
max_lifetime = "24h"
audit     = "on"

[packages]
apt = ["git", "make"]
pip = ["pytest==8.3.3"]

[limits]
cpus = 1.5
memory = "512MiB"
disk = 5000000000
inodes = 0
timeout = "250ms"
pids = 64
output = "1MiB"

[budget]
wall_time = "10m"
commands = 100
output = "64MiB"
files_written = 10000

[monitor]
interval = "5s"
warn_percent = 80
stop_percent = 95

[checkpoint]
before = "change"
keep = 20

[env]
PYTHONDONTWRITEBYTECODE = "1"
ANOTHER = ""

[secrets]
GITHUB_TOKEN = { env = "TOKEN" }

[[tool]]
name = "run_tests"
description = "Runs the unit tests and returns the counts."
argv = ["python3", "-m", "unittest", "{module}", "{}", "{ x"]
effect = "execute"
parameters = { module = { type = "string", pattern = "^[a-z_.]+$" } }
)";

std::string Mistake(std::string_view text) {
  const Result<Template> content = Read(text, "caisson.toml");
  return content ? "accepted" : content.error().message();
}

// With the head that every template has.
std::string MistakeIn(std::string_view text) { return Mistake("version = 1\n" + std::string(text)); }

TEST(ReadTemplate, TakesEveryKey) {
  const Result<Template> read = Read(kWhole, "caisson.toml");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->file, "caisson.toml");
  EXPECT_EQ(read->image->value, "host");
  EXPECT_EQ(read->image->source, "caisson.toml:2");
  EXPECT_EQ(read->tier->value, Tier::kAuto);
  EXPECT_EQ(read->user->value, User::kAgent);
  EXPECT_EQ(read->policy->value, "policy.toml");
  EXPECT_EQ(read->toolset->value, "coding");
  EXPECT_EQ(read->on_end->value, OnEnd::kKeep);
  EXPECT_EQ(read->idle_timeout->value, std::chrono::minutes(15));
  EXPECT_EQ(read->max_lifetime->value, std::chrono::hours(24));
  EXPECT_EQ(read->audit->value, Audit::kOn);
  EXPECT_EQ(read->packages->value.apt, (std::vector<std::string>{"git", "make"}));
  EXPECT_EQ(read->packages->value.pip, std::vector<std::string>{"pytest==8.3.3"});
  EXPECT_EQ(read->limits.cpus->value, MilliCpus{1500});
  EXPECT_EQ(read->limits.memory->value, MiB(512));
  EXPECT_EQ(read->limits.memory->source, "caisson.toml:20");
  EXPECT_EQ(read->limits.disk->value, Bytes{5'000'000'000});
  EXPECT_EQ(read->limits.timeout->value, std::chrono::milliseconds(250));
  EXPECT_EQ(read->limits.pids->value, 64U);
  EXPECT_EQ(read->budget->value.commands->value, 100U);
  EXPECT_EQ(read->monitor->value.stop_percent->value, 95U);
  EXPECT_EQ(read->checkpoint->value.before->value, CheckpointBefore::kChange);
  ASSERT_EQ(read->env.size(), 2U);
  EXPECT_EQ(read->env[0].first, "PYTHONDONTWRITEBYTECODE");
  EXPECT_EQ(read->env[1].second.value, "");
  EXPECT_EQ(read->secrets->value.at(0).variable, "TOKEN");
  ASSERT_EQ(read->tools.size(), 1U);
  EXPECT_EQ(read->tools[0].parameters.at(0).pattern, "^[a-z_.]+$");
  EXPECT_EQ(read->tools[0].source, "caisson.toml:49");
}

TEST(ReadTemplate, NeedsNothingButAVersion) {
  const Result<Template> read = Read("version = 1", "caisson.toml");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_FALSE(read->image || read->limits.memory || read->budget || read->secrets || read->packages);
  EXPECT_EQ(Mistake(""), "caisson.toml:1:1: 'version' must be given, as 1");
  EXPECT_EQ(Mistake("version = 2"), "caisson.toml:1:11: 'version' must be 1");
}

TEST(ReadTemplate, RefusesWhatMeansNothing) {
  for (const std::string_view text : {"image = ''",
                                      "image = 1",
                                      "tier = 'docker'",
                                      "user = 'nobody'",
                                      "workspace = 'src'",
                                      "profile = 'prod'",
                                      "policy = ''",
                                      "policy = '/etc/policy.toml'",
                                      "policy = '../policy.toml'",
                                      "policy = 'a/../../b'",
                                      "toolset = 'Co ding'",
                                      "on_end = 'stop'",
                                      "idle_timeout = 30",
                                      "idle_timeout = '0s'",
                                      "max_lifetime = '1 h'",
                                      "audit = 'off'",
                                      "packages = 1",
                                      "[packages]\napt = 'git'",
                                      "[packages]\napt = ['-y']",
                                      "[packages]\npip = ['']",
                                      "[packages]\nnpm = []",
                                      "[limits]\ncpus = 0",
                                      "[limits]\ncpus = '2'",
                                      "[limits]\ncpus = nan",
                                      "[limits]\nmemory = '1MiB'",
                                      "[limits]\nmemory = '2 GiB'",
                                      "[limits]\nmemory = -1",
                                      "[limits]\ndisk = 1.5",
                                      "[limits]\ninodes = -1",
                                      "[limits]\ntimeout = '9000h'",
                                      "[limits]\npids = 0",
                                      "[limits]\npids = 4194305",
                                      "[budget]\ncommands = 0",
                                      "[monitor]\nwarn_percent = 0",
                                      "[monitor]\nstop_percent = 101",
                                      "[monitor]\nwarn_percent = 96\nstop_percent = 95",
                                      "[checkpoint]\nbefore = 'always'",
                                      "[checkpoint]\nkeep = 0",
                                      "[env]\nA = 1",
                                      "[env]\n'A=B' = ''",
                                      "[env]\n'' = ''",
                                      "[secrets]\nA = 'the value itself'",
                                      "[secrets]\nA = {}",
                                      "[secrets]\nA = { env = 'A B' }",
                                      "[secrets]\nA = { env = 'A', value = 'x' }",
                                      "[secrets]\n'A-B' = { env = 'A' }"}) {
    EXPECT_TRUE(MistakeIn(text).starts_with("caisson.toml:")) << text;
  }
  EXPECT_NE(MistakeIn("[env]\nA = '" + std::string(131'071, 'x') + "'"), "accepted");
}

TEST(ReadTemplate, NamesTheNearest) {
  EXPECT_EQ(MistakeIn("[limits]\nmemroy = '2GiB'"), "caisson.toml:3:1: 'memroy' is not known; did you mean 'memory'?");
  EXPECT_EQ(
      MistakeIn("profile = 'persnal'"),
      "caisson.toml:2:11: 'profile' must be personal, team, production or high-security; did you mean 'personal'?");
  EXPECT_EQ(MistakeIn("policy = 'standrad'").substr(0, 17), "caisson.toml:2:10");
  EXPECT_EQ(MistakeIn("policy = 'mine'"), "accepted") << "a file beside the template";
  EXPECT_EQ(MistakeIn("[packages]\napt = []\non_end = 'keep'"),
            "caisson.toml:4:10: 'on_end' must stand above the first [table]; here it belongs to [packages]");
}

TEST(ReadTemplate, NamesEveryMistakeInTheFilesOrder) {
  const Reading reading = ReadWithMistakes("tier = 'x'\nfoo = 1\n[limits]\npids = 0\nbar = 2\n", "caisson.toml");
  EXPECT_FALSE(reading.content);
  ASSERT_EQ(reading.mistakes.size(), 5U);
  EXPECT_TRUE(reading.mistakes[0].message().starts_with("caisson.toml:1:1: 'version'"));
  EXPECT_TRUE(reading.mistakes[1].message().starts_with("caisson.toml:1:8: 'tier'"));
  EXPECT_TRUE(reading.mistakes[2].message().starts_with("caisson.toml:2:1: 'foo'"));
  EXPECT_TRUE(reading.mistakes[3].message().starts_with("caisson.toml:4:8: 'pids'"));
  EXPECT_TRUE(reading.mistakes[4].message().starts_with("caisson.toml:5:1: 'bar'"));
}

TEST(ReadTemplate, ChecksTools) {
  const std::string head = "[[tool]]\nname = 'a'\ndescription = 'd'\n";
  EXPECT_EQ(MistakeIn(head + "argv = ['x']\neffect = 'read'"), "accepted");
  for (const std::string& text :
       {head + "argv = []\neffect = 'read'", head + "effect = 'read'", head + "argv = ['x']",
        head + "argv = ['x', '{y}']\neffect = 'read'",
        head + "argv = ['{y}']\neffect = 'read'\nparameters = { y = { type = 'string' } }",
        head + "argv = ['x']\neffect = 'read'\nparameters = { y = { type = 'string' } }",
        head + "argv = ['x', '{y}']\neffect = 'read'\nparameters = { y = { type = 'text' } }",
        head + "argv = ['x', '{y}']\neffect = 'read'\nparameters = { y = {} }",
        head + "argv = ['x', '{y}']\neffect = 'read'\nparameters = { y = { type = 'integer', pattern = 'a' } }",
        head + "argv = ['x']\neffect = 'read'\n" + head + "argv = ['x']\neffect = 'read'",
        std::string("[[tool]]\nname = 'A'\ndescription = 'd'\nargv = ['x']\neffect = 'read'"),
        std::string("[[tool]]\nname = 'a'\nargv = ['x']\neffect = 'read'")}) {
    EXPECT_TRUE(MistakeIn(text).starts_with("caisson.toml:")) << text;
  }
}

}  // namespace
}  // namespace caisson::templates
