#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "caisson/policy/moment_text.h"
#include "support/caisson_run.h"
#include "support/integration_test.h"
#include "support/temp_folder.h"

// `caisson run --policy`.

namespace caisson::support {
namespace {

class RunPolicy : public IntegrationTest {
 protected:
  // A file with a rule that allows `command` alone.
  std::string Allowing(const std::string& command, const std::string& rest = "") const {
    std::string path = folder_.path() + "/policy.toml";
    std::ofstream(path) << "version = 1\n[[rule]]\nname = 'only'\neffect = 'allow'\ncommands = ['" << command << "']\n"
                        << rest;
    return path;
  }

  TempFolder folder_;
};

TEST_F(RunPolicy, LetsRunWhatItAllowsAndNothingElse) {
  const StepResult allowed = RunJson({"--policy", "minimal"}, {"ls", "/"});
  EXPECT_EQ(allowed.outcome, "exited") << allowed.stderr_text;
  EXPECT_EQ(allowed.whole.at("decision").at("rule").as_string(), "toolchain");
  const StepResult held =
      RunJson({"--policy", "minimal"}, {"python3", "-c", "import os; os.execv('/usr/bin/id', ['id'])"});
  EXPECT_NE(held.err.find("PermissionError"), std::string::npos) << held.err;
  const StepResult asked = RunJson({"--policy", "minimal"}, {"id"});
  EXPECT_EQ(asked.outcome, "needs_approval");
  EXPECT_EQ(asked.status, 126);
  const Ended denied = RunCommand({"--policy", "strict"}, {"id"});
  EXPECT_EQ(denied.status, 126);
  EXPECT_NE(denied.err.find("no rule allows it"), std::string::npos) << denied.err;
  const StepResult own = RunJson({"--policy", Allowing("id")}, {"id", "-u"});
  EXPECT_EQ(own.out, "1000\n");
}

TEST_F(RunPolicy, StopsWhatRestsOnARuleThatEnds) {
  const auto now = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const std::string end = policy::MomentText(now + std::chrono::seconds(3));
  const std::string path = Allowing("sleep", "expires_at = " + end + "\non_end = 'stop'\n");
  const StepResult stopped = RunJson({"--policy", path, "--timeout", "100s"}, {"sleep", "100"});
  EXPECT_EQ(stopped.outcome, "cancelled");
  EXPECT_EQ(stopped.status, 130);
  EXPECT_EQ(stopped.whole.at("decision").at("effect").as_string(), "deny");
  EXPECT_LT(stopped.duration_ms, 50'000);
  EXPECT_EQ(RunJson({"--policy", path}, {"sleep", "0"}).outcome, "denied");
}

TEST_F(RunPolicy, RefusesBeforeAnythingStarts) {
  for (const Texts& options :
       {Texts{"--policy", "strikt"}, Texts{"--policy", folder_.path()}, Texts{"--policy", "template"},
        Texts{"--policy", "minimal", "--user", "root"}, Texts{"--policy", Allowing("id", "on_end = 'stop'\n")}}) {
    const Ended ended = RunCommand(options, {"ls"});
    EXPECT_EQ(ended.status, 125) << options[1];
    EXPECT_EQ(ended.out, "") << options[1];
  }
}

}  // namespace
}  // namespace caisson::support
