#include "caisson/cli/template_values.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "caisson/cli/create_request.h"
#include "caisson/cli/parse_for_test.h"
#include "caisson/cli/run_request.h"

namespace caisson::cli {
namespace {

using Variables = std::map<std::string, std::string>;

class TemplateValues : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "caisson_values_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    file_ = folder_ + "/caisson.toml";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& text) const { std::ofstream(file_) << "version = 1\n" << text; }

  Result<EffectiveValues> Usable(std::vector<std::string> arguments, const Variables& variables = {}) const {
    arguments.insert(arguments.begin() + 1, {"--template", file_});
    CAISSON_TRY(const CommandLine line, ParseForTest(arguments, variables));
    return UsableValues(line);
  }
  Result<RunRequest> Run(std::vector<std::string> options, const Variables& variables = {}) const {
    options.insert(options.begin(), "run");
    options.insert(options.end(), {"--", "true"});
    CAISSON_TRY(const EffectiveValues values, Usable(options, variables));
    return ReadRunRequest(values.line);
  }
  Result<CreateOptions> Create(std::vector<std::string> options, const Variables& variables = {}) const {
    options.insert(options.begin(), "create");
    CAISSON_TRY(const EffectiveValues values, Usable(options, variables));
    return ReadCreateOptions(values.line);
  }

  std::string folder_;
  std::string file_;
};

TEST_F(TemplateValues, ReachARun) {
  Write(
      "image = './root'\nuser = 'root'\ntier = 'process'\n[limits]\ncpus = 0.5\nmemory = '64MiB'\ndisk = "
      "'8MiB'\ntimeout = "
      "'3s'\npids = 9\n[env]\nA = 'x=y'\nB = '2'\n");
  const auto request = Run({"--env", "B=3", "--env", "C=4"});
  ASSERT_TRUE(request) << request.error().message();
  EXPECT_EQ(request->image_directory, folder_ + "/./root");
  EXPECT_EQ(request->user, sandbox::User::kRoot);
  EXPECT_EQ(request->limits.cpus, MilliCpus{500});
  EXPECT_EQ(request->limits.memory, MiB(64));
  EXPECT_EQ(request->limits.disk, MiB(8));
  EXPECT_EQ(request->limits.pids, 9U);
  EXPECT_EQ(request->timeout, std::chrono::seconds(3));
  EXPECT_EQ(request->env, (Pairs{{"A", "x=y"}, {"B", "3"}, {"C", "4"}}));
}

TEST_F(TemplateValues, ReachACreate) {
  Write(
      "on_end = 'keep'\nidle_timeout = '15m'\nmax_lifetime = '24h'\n[limits]\nmemory = '64MiB'\ntimeout = "
      "'3s'\n[env]\nA = "
      "'1'\n");
  const auto options = Create({"web"});
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_EQ(options->request.on_end, "keep");
  EXPECT_EQ(options->request.idle_timeout, std::chrono::minutes(15));
  EXPECT_EQ(options->request.max_lifetime, std::chrono::hours(24));
  EXPECT_EQ(options->request.memory, MiB(64));
  EXPECT_EQ(options->request.command_timeout, std::chrono::seconds(3));
  EXPECT_EQ(options->request.env, (Pairs{{"A", "1"}}));
  EXPECT_EQ(options->request.name, "web");
  EXPECT_EQ(Create({"--on-end", "delete"})->request.on_end, "delete");
}

TEST_F(TemplateValues, AreWeakerThanOptionsAndVariables) {
  Write("profile = 'team'\n[limits]\nmemory = '64MiB'\npids = 9\ncpus = 1\n");
  const auto values =
      Usable({"run", "--memory", "1GiB", "--", "true"}, {{"CAISSON_PIDS", "7"}, {"CAISSON_MEMORY", "2GiB"}});
  ASSERT_TRUE(values) << values.error().message();
  EXPECT_EQ(values->line.Find(Option::kMemory)->text, "1GiB");
  EXPECT_EQ(values->line.Find(Option::kMemory)->source, "--memory");
  EXPECT_EQ(values->line.Find(Option::kPids)->source, "CAISSON_PIDS");
  EXPECT_EQ(values->line.Find(Option::kCpus)->source, file_ + ":6");
  EXPECT_EQ(values->line.Find(Option::kNetwork)->source, "profile team");
  EXPECT_EQ(values->line.Find(Option::kTimeout), nullptr) << "a default is not given";
  ASSERT_TRUE(values->policy);
  EXPECT_EQ(values->policy->text, "standard");
  EXPECT_FALSE(NoticesOf(*values).empty()) << "a team's list of hosts is not there yet";
  const std::vector<std::string> described = DescribeValues(values->line);
  EXPECT_NE(std::find(described.begin(), described.end(), "cpus 1 (" + file_ + ":6)"), described.end());
}

TEST_F(TemplateValues, LetAnOptionReplaceTheProfileOfATemplate) {
  Write("profile = 'production'\npolicy = 'minimal'\n");
  EXPECT_FALSE(Run({}));
  EXPECT_TRUE(Run({"--profile", "personal"}));
  EXPECT_TRUE(Run({}, {{"CAISSON_PROFILE", "personal"}}));
  const auto values = Usable({"run", "--profile", "personal", "--", "true"});
  ASSERT_TRUE(values);
  EXPECT_EQ(values->policy->text, "minimal") << "a template is stronger than a profile";
  const auto unknown = Run({"--profile", "persnal"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code(), Code::kInvalidArgument);
  EXPECT_TRUE(unknown.error().message().starts_with("--profile: "));
}

TEST_F(TemplateValues, RefuseWhatMustNotBeIgnored) {
  for (const char* text : {"tier = 'gvisor'", "audit = 'required'", "profile = 'high-security'",
                           "image = 'debian:12.7'", "[secrets]\nA = { env = 'A' }", "[packages]\npip = ['x']"}) {
    Write(text);
    for (const bool run : {true, false}) {
      const auto values = run ? Usable({"run", "--", "true"}) : Usable({"create"});
      ASSERT_FALSE(values) << text;
      EXPECT_EQ(values.error().code(), Code::kUnsupported) << text;
    }
  }
  Write("tier = 'gvisor'");
  EXPECT_TRUE(Run({"--tier", "process"})) << "the operator says otherwise";
  Write("memroy = 1");
  EXPECT_EQ(Run({}).error().message(), file_ + ":2:1: 'memroy' is not known");
}

// What an agent writes into its workspace must not become the next sandbox's configuration.
TEST_F(TemplateValues, ComeOnlyFromATemplateThatIsNamed) {
  Write("[limits]\nmemory = '64MiB'\n");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  const auto line = ParseForTest({"run", "--workspace", ".", "--", "true"});
  ASSERT_TRUE(line);
  const auto unnamed = UsableValues(*line);
  const auto by_variable = ParseForTest({"run", "--", "true"}, {{"CAISSON_TEMPLATE", "caisson.toml"}});
  ASSERT_TRUE(by_variable);
  const auto named = UsableValues(*by_variable);
  std::filesystem::current_path(before);
  ASSERT_TRUE(unnamed);
  EXPECT_EQ(unnamed->line.Find(Option::kMemory), nullptr);
  ASSERT_TRUE(named) << named.error().message();
  EXPECT_EQ(named->line.Find(Option::kMemory)->source, "caisson.toml:3");
}

}  // namespace
}  // namespace caisson::cli
