#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "caisson/cli/commands.h"
#include "caisson/cli/parse_for_test.h"

namespace caisson::cli {
namespace {

class PolicyCommandTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(mkdtemp(folder_.data()), nullptr); }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string File(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }
  // The exit status; what was printed is in out_ and err_.
  int Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "policy");
    const auto line = ParseForTest(arguments);
    if (!line) ADD_FAILURE() << line.error().message();
    if (!line) return -1;
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int status = PolicyCommand(*line);
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return status;
  }

  std::string folder_ = testing::TempDir() + "caisson_policy.XXXXXX";
  std::string out_, err_;
};

TEST_F(PolicyCommandTest, ChecksAPolicy) {
  EXPECT_EQ(Run({"check", "open"}), 0);
  EXPECT_NE(out_.find("is right"), std::string::npos) << out_;
  EXPECT_EQ(Run({"check", File("unknown.toml", "version = 1\nfoo = 1\n")}), 1);
  EXPECT_NE(err_.find("unknown.toml:2"), std::string::npos) << err_;
  EXPECT_EQ(Run({"check", File("rm.toml",
                               "version = 1\ndefault = 'allow'\n[[rule]]\nname = 'no rm'\neffect = 'deny'\n"
                               "commands = ['rm']\n")}),
            1)
      << "the kernel cannot hold it";
  EXPECT_NE(err_.find("no rm"), std::string::npos) << err_;
  EXPECT_EQ(Run({"check", "--json", "open"}), 0);
  EXPECT_TRUE(out_.starts_with("{\"name\":")) << out_;
}

TEST_F(PolicyCommandTest, ShowsAFileThatGivesTheSamePolicy) {
  EXPECT_EQ(Run({"show", "minimal"}), 0);
  const std::string copy = File("copy.toml", out_);
  EXPECT_EQ(Run({"explain", copy, "git push"}), 0) << err_;
  EXPECT_EQ(Run({"show", "--json", "minimal"}), 0);
  EXPECT_TRUE(out_.starts_with('{'));
}

TEST_F(PolicyCommandTest, ExplainsTextWordsAndFiles) {
  EXPECT_EQ(Run({"explain", "strict", "ls | grep x"}), 0);
  EXPECT_EQ(Run({"explain", "strict", "ls | xargs rm"}), 1);
  EXPECT_NE(out_.find("rm"), std::string::npos);
  EXPECT_EQ(Run({"explain", "strict", "--", "git", "push", "-f"}), 0) << out_;
  EXPECT_EQ(Run({"explain", "strict", "--", "rm", "-rf", "x"}), 1);
  EXPECT_EQ(Run({"explain", "strict", "--", "git", "log; rm x"}), 0) << "words are no text";
  EXPECT_EQ(Run({"explain", "strict", "process.exec", "ls; rm x"}), 1);
  EXPECT_EQ(Run({"explain", "strict", "process.exec", "ls", "x"}), 0) << out_;
  EXPECT_EQ(Run({"explain", "strict", "file.write", "/home/agent/x"}), 0);
  EXPECT_EQ(Run({"explain", "strict", "file.write", "/home/agent/../../etc/passwd"}), 1) << "where it leads counts";
  EXPECT_EQ(Run({"explain", "strict", "file.write", "/etc/passwd"}), 1);
  EXPECT_EQ(Run({"explain", "strict", "network.connect", "example.org:443"}), 1);
  EXPECT_EQ(Run({"explain", "--json", "strict", "rm x"}), 1);
  EXPECT_TRUE(out_.starts_with("{\"effect\":\"deny\"")) << out_;
}

TEST_F(PolicyCommandTest, ExplainsForATimeAFolderAndVariables) {
  const std::string policy = File("day.toml",
                                  "version = 1\n[[rule]]\nname = 'ls'\neffect = 'allow'\ncommands = ['ls']\n"
                                  "expires_at = 2026-03-01T00:00:00Z\n[[rule]]\nname = 'out'\neffect = 'allow'\n"
                                  "actions = ['file.write']\npaths = ['/srv/**']\n");
  EXPECT_EQ(Run({"explain", "--at", "2026-02-28T23:59:59Z", policy, "ls"}), 0);
  EXPECT_EQ(Run({"explain", "--at", "2026-03-01T00:00:00Z", policy, "ls"}), 1);
  EXPECT_EQ(Run({"explain", "--at", "2026-03-01T00:30:00+01:00", policy, "ls"}), 0);
  EXPECT_EQ(Run({"explain", "--at", "2026-02-01T00:00:00Z", "--cwd", "/srv/a", policy, "ls > x"}), 0);
  EXPECT_EQ(Run({"explain", "--at", "2026-02-01T00:00:00Z", policy, "ls > x"}), 1);
  EXPECT_EQ(Run({"explain", "--env", "A=1", "strict", "ls"}), 0);
  EXPECT_EQ(Run({"explain", "--env", "LD_PRELOAD=/tmp/x.so", "strict", "ls"}), 1);
}

TEST_F(PolicyCommandTest, TriesAFileOfCommands) {
  EXPECT_EQ(Run({"test", "strict", File("right.txt", "allow ls\ndeny rm x\n")}), 0);
  EXPECT_EQ(out_, "2 commands, 0 decided otherwise than expected\n");
  EXPECT_EQ(Run({"test", "strict", File("wrong.txt", "allow ls\nallow rm x\n")}), 1);
  EXPECT_NE(out_.find("line 2: expected allow, decided deny"), std::string::npos) << out_;
  EXPECT_EQ(Run({"test", "strict", File("bad.txt", "allow\n")}), 2);
  EXPECT_NE(err_.find("bad.txt:1"), std::string::npos) << err_;
  EXPECT_EQ(Run({"test", "strict", folder_ + "/nothing"}), 3);
}

TEST_F(PolicyCommandTest, IsMisused) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"chek", "open"},
           {"check"},
           {"check", "open", "more"},
           {"show", "open", "more"},
           {"explain", "open"},
           {"explain", "open", "process.exec"},
           {"explain", "open", "file.read"},
           {"explain", "open", "file.read", "x"},
           {"explain", "--at", "soon", "open", "ls"},
           {"explain", "--cwd", "srv", "open", "ls"},
           {"explain", "--env", "=x", "open", "ls"},
           {"test", "open"},
           {"test", "open", "a", "b"},
       }) {
    EXPECT_EQ(Run(arguments), 2) << arguments.front() << " " << arguments.back();
    EXPECT_EQ(out_, "");
    EXPECT_FALSE(err_.empty());
  }
  Run({"chek", "open"});
  EXPECT_NE(err_.find("check"), std::string::npos) << "the nearest it knows";
}

TEST_F(PolicyCommandTest, SaysThatThereIsNoPolicy) {
  EXPECT_EQ(Run({"show", folder_ + "/nothing.toml"}), 3);
  EXPECT_EQ(Run({"explain", "minmal", "ls"}), 3);
  EXPECT_NE(err_.find("minimal"), std::string::npos) << err_;
}

}  // namespace
}  // namespace caisson::cli
