#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "support/caisson_run.h"
#include "support/integration_test.h"
#include "support/temp_folder.h"

// What `caisson run --template` makes of a file, and that no file does anything by lying somewhere.

namespace caisson::support {
namespace {

using std::chrono::seconds;

class RunTemplate : public IntegrationTest {
 protected:
  std::string Write(const std::string& text) const {
    const std::string path = folder_.path() + "/caisson.toml";
    std::ofstream(path) << text;
    return path;
  }

  TempFolder folder_;
};

TEST_F(RunTemplate, ReachesTheCommand) {
  const std::string path = Write(
      "version = 1\nuser = 'root'\n[limits]\nmemory = '64MiB'\ntimeout = '2s'\n[env]\nFROM = 'template'\nBOTH = "
      "'template'\n");
  const StepResult result =
      RunScriptJson({"--template", path, "--env", "BOTH=option"}, "echo $FROM $BOTH; id -u; exec sleep 60");
  EXPECT_EQ(result.out, "template option\n0\n");
  EXPECT_EQ(result.outcome, "timed_out");
  const StepResult greedy = RunJson({"--template", path}, {"python3", "-c", "x = bytearray(200 << 20)"});
  EXPECT_EQ(greedy.outcome, "out_of_memory");
  const StepResult raised =
      RunJson({"--template", path, "--memory", "1GiB"}, {"python3", "-c", "x = bytearray(200 << 20)"});
  EXPECT_EQ(raised.outcome, "exited") << "an option is stronger";
}

TEST_F(RunTemplate, IsNotReadUnlessItIsNamed) {
  Write("version = 1\n[env]\nFROM = 'template'\n");
  ProgramSpec spec{.argv = {"sh", "-c", "cd \"$0\" && exec \"$@\"", folder_.path()}, .env = {}};
  const ProgramSpec plain = RunSpec({"--workspace", "."}, {"sh", "-c", "ls; echo \"[$FROM]\""});
  spec.argv.insert(spec.argv.end(), plain.argv.begin(), plain.argv.end());
  const Ended ended = RunProgram(spec, seconds(20));
  EXPECT_EQ(ended.out, "caisson.toml\n[]\n") << ended.err;
}

TEST_F(RunTemplate, RefusesBeforeAnythingStarts) {
  const auto refused = [&](const std::string& path) {
    const Ended ended = RunScript({"--template", path}, "echo this-must-never-be-printed");
    EXPECT_EQ(ended.status, 125);
    EXPECT_EQ(ended.out, "");
    return ended.err;
  };
  EXPECT_NE(
      refused(Write("version = 1\n[limits]\nmemroy = 1\n")).find(":3:1: 'memroy' is not known; did you mean 'memory'?"),
      std::string::npos);
  EXPECT_NE(refused(Write("version = 1\ntier = 'gvisor'\n")).find("not there yet: the tier 'gvisor'"),
            std::string::npos);
  EXPECT_NE(refused(Write("version = 1\nprofile = 'high-security'\n")).find("microvm"), std::string::npos);
  const std::string fifo = folder_.path() + "/fifo.toml";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_NE(refused(fifo).find("no regular file"), std::string::npos);
}

}  // namespace
}  // namespace caisson::support
