#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/caisson_run.h"
#include "support/integration_test.h"
#include "support/temp_folder.h"

// Everything `caisson run` refuses: with 125, in words that help, and without starting anything.

namespace caisson::support {
namespace {

using std::chrono::seconds;

constexpr const char* kProof = "this-must-never-be-printed";

class RunBadInput : public IntegrationTest {
 protected:
  // Runs `caisson run` with these words as they are, in both formats, and checks what every refusal has in common.
  // Returns the text for people.
  static std::string ExpectRefused(const Texts& words, const Texts& env = {}) {
    ProgramSpec spec{.argv = {CaissonPath(), "run"}, .env = env};
    spec.argv.insert(spec.argv.end(), words.begin(), words.end());
    const Ended text = RunProgram(spec, seconds(20));
    std::string what = "caisson run";
    for (const std::string& word : words) what += " " + word.substr(0, 40);
    EXPECT_EQ(text.status, 125) << what;
    EXPECT_EQ(text.out, "") << what;
    EXPECT_TRUE(text.err.starts_with("caisson: ")) << what << ": " << text.err.substr(0, 200);
    EXPECT_NE(text.err.find("\n  why: "), std::string::npos) << what << ": " << text.err.substr(0, 500);
    EXPECT_NE(text.err.find("\n  fix: "), std::string::npos) << what << ": " << text.err.substr(0, 500);
    EXPECT_LT(text.err.size(), 4000U) << what;

    spec.argv.insert(spec.argv.begin() + 2, "--json");
    const Ended json = RunProgram(spec, seconds(20));
    EXPECT_EQ(json.status, 125) << what;
    EXPECT_EQ(json.out, "") << what;
    ExpectErrorObject(json.err, what);
    return text.err;
  }

  static void ExpectErrorObject(const std::string& text, const std::string& what) {
    boost::json::error_code problem;
    const boost::json::value value = boost::json::parse(text, problem);
    ASSERT_FALSE(problem) << what << ": " << text;
    const boost::json::object& error = value.as_object().at("error").as_object();
    EXPECT_EQ(error.at("code"), "invalid_argument") << what << ": " << text;
    EXPECT_TRUE(error.at("message").is_string() && !error.at("message").get_string().empty()) << what;
    EXPECT_TRUE(error.contains("cause") && error.contains("remediation")) << what;
    EXPECT_TRUE(error.at("retryable").is_bool()) << what;
    EXPECT_TRUE(error.at("details").is_object()) << what;
  }

  // An option with this value and a command that would prove that it ran.
  static std::string ExpectValueRefused(const std::string& option, const std::string& value) {
    return ExpectRefused({option, value, "--", "echo", kProof});
  }
};

TEST_F(RunBadInput, AnUnknownOptionNamesTheNearest) {
  EXPECT_NE(ExpectRefused({"--memroy", "1GiB", "--", "echo", kProof}).find("--memory"), std::string::npos);
  EXPECT_NE(ExpectRefused({"--time-out=1s", "--", "echo", kProof}).find("--timeout"), std::string::npos);
  EXPECT_NE(ExpectRefused({"--wokspace", "/tmp", "--", "echo", kProof}).find("--workspace"), std::string::npos);
  ExpectRefused({"--" + std::string(5000, 'x'), "--", "echo", kProof});
  ExpectRefused({"-x", "--", "echo", kProof});
}

TEST_F(RunBadInput, SizesThatAreNone) {
  for (const char* value : {"5 g", "0", "-1", "9223372036854775808", "18446744073709551616", "NaN", "inf", "", "1e9",
                            "0x100000", "5XB", "1.2.3GiB", "GiB", " 512MiB", "512MiB ", "4095", "99999999999GiB"}) {
    ExpectValueRefused("--memory", value);
    ExpectValueRefused("--disk", value);
  }
}

TEST_F(RunBadInput, NumbersThatAreNone) {
  for (const char* value : {"0", "-1", "NaN", "inf", "", "1e3", "0.0001", "100000", "two", "1,5", "0x2"}) {
    ExpectValueRefused("--cpus", value);
  }
  for (const char* value : {"0", "-1", "1.5", "NaN", "", "9223372036854775808", "4194305", "many", " 5"}) {
    ExpectValueRefused("--pids", value);
  }
}

TEST_F(RunBadInput, DurationsThatAreNone) {
  for (const char* value : {"0", "0s", "-1s", "1", "s", "1 s", "1d", "NaN", "infs", "", "1e9s", "9223372036854775808s",
                            "99999999h", "1m30s"}) {
    ExpectValueRefused("--timeout", value);
  }
}

TEST_F(RunBadInput, ChoicesThatAreNone) {
  for (const char* value : {"4294967296", "nobody", "", "0", "Agent", "agent "}) ExpectValueRefused("--user", value);
  for (const char* value : {"host", "all", ""}) ExpectValueRefused("--network", value);
  for (const char* value : {"microvm", "best", ""}) ExpectValueRefused("--tier", value);
  for (const char* value : {"disk", ""}) ExpectValueRefused("--storage", value);
}

TEST_F(RunBadInput, ALimitThatTheStorageCannotHold) {
  const Ended ended = RunCommand({"--storage", "directory", "--disk", "1GiB"}, {"true"});
  EXPECT_EQ(ended.status, 125);
  EXPECT_NE(ended.err.find("--disk cannot be held with --storage directory"), std::string::npos) << ended.err;
}

TEST_F(RunBadInput, ErrorsDoNotPassControlCharactersToTheTerminal) {
  const std::string text = ExpectValueRefused("--user", "\x1b[31mred\x07");
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
}

TEST_F(RunBadInput, ACommandThatIsMissing) {
  EXPECT_NE(ExpectRefused({}).find("missing"), std::string::npos);
  ExpectRefused({"--"});
  ExpectRefused({"--", ""});
  ExpectRefused({"--memory", "1GiB"});
  EXPECT_NE(ExpectRefused({"echo", kProof}).find("-- echo"), std::string::npos);
}

TEST_F(RunBadInput, AnOptionWithoutItsValue) {
  ExpectRefused({"--memory"});
  ExpectRefused({"--json=yes", "--", "echo", kProof});
  ExpectRefused({"--quiet", "--verbose", "--", "echo", kProof});
  ExpectRefused({"--tty", "--", "echo", kProof});
}

TEST_F(RunBadInput, EnvironmentsThatAreNone) {
  for (const char* value : {"", "NAME", "=value"}) ExpectValueRefused("--env", value);
  ExpectValueRefused("--env", std::string(300, 'N') + "=1");
}

TEST_F(RunBadInput, ArgumentsThatAreTooMany) {
  Texts words = {"--", "echo", kProof};
  for (int i = 0; i < 19; ++i) words.emplace_back(100000, 'a');  // 1.9 MB
  ExpectRefused(words);
}

TEST_F(RunBadInput, VariablesThatAreTooMany) {
  Texts words;
  for (int i = 0; i < 20000; ++i) {
    words.emplace_back("--env");
    words.push_back("V" + std::to_string(i) + "=");
  }
  words.insert(words.end(), {"--", "echo", kProof});
  ExpectRefused(words);
}

TEST_F(RunBadInput, BadVariablesAreNamed) {
  const Texts command = {"--", "echo", kProof};
  for (const char* variable : {"CAISSON_MEMORY=lots", "CAISSON_TIMEOUT=5", "CAISSON_CPUS=-1", "CAISSON_PIDS=0",
                               "CAISSON_USER=nobody", "CAISSON_NETWORK=host", "CAISSON_TIER=x", "CAISSON_STORAGE=x",
                               "CAISSON_DISK=0", "CAISSON_WORKSPACE=/:nosuchmode"}) {
    const std::string name = std::string(variable).substr(0, std::string(variable).find('='));
    EXPECT_NE(ExpectRefused(command, {variable}).find(name), std::string::npos) << variable;
  }
}

TEST_F(RunBadInput, FoldersThatAreNone) {
  const TempFolder folder;
  WriteFile(folder / "file", "");
  for (const std::string& path : {folder / "missing", folder / "file", std::string(300, 'n'), std::string(5000, 'p')}) {
    for (const char* option : {"--workspace", "--image"}) {
      const Ended ended = RunCommand({option, path}, {"echo", kProof});
      EXPECT_EQ(ended.status, 125) << option << " " << path.substr(0, 60);
      EXPECT_EQ(ended.out, "");
      EXPECT_NE(ended.err.find("\n  why: "), std::string::npos) << ended.err.substr(0, 300);
      EXPECT_NE(ended.err.find("\n  fix: "), std::string::npos) << ended.err.substr(0, 300);
    }
  }
  ExpectValueRefused("--workspace", folder.path() + ":nosuchmode");
  ExpectValueRefused("--workspace", "");
  ExpectValueRefused("--image", "");
}

TEST_F(RunBadInput, WithoutRootItSaysWhatToDo) {
  const Ended ended = RunProgram({.argv = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", CaissonPath(),
                                           "run", "--", "echo", kProof}});
  // The programs may lie where only root may look.
  if (ended.status == 127 || ended.status == 126) GTEST_SKIP() << "nobody may not execute " << CaissonPath();
  EXPECT_EQ(ended.status, 125);
  EXPECT_EQ(ended.out, "");
  EXPECT_NE(ended.err.find("root"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("\n  fix: "), std::string::npos) << ended.err;
}

TEST_F(RunBadInput, RefusalsMakeNothingOnTheHost) {
  for (int i = 0; i < 20; ++i) ExpectValueRefused("--memory", "0");
  EXPECT_EQ(AwaitNothingNew(before(), std::chrono::milliseconds(0)), HostState());
}

}  // namespace
}  // namespace caisson::support
