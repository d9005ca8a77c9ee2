#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

namespace caisson::demo {
namespace {

struct Finished {
  int exit_code = -1;
  std::string output;
};

Finished RunDemo(const std::string& arguments) {
  Finished run;
  FILE* const pipe = popen(("'" DEMO_PROGRAM "' " + arguments + " 2>&1").c_str(), "re");
  if (pipe == nullptr) return run;
  std::array<char, 4096> block{};
  for (std::size_t count = 0; (count = fread(block.data(), 1, block.size(), pipe)) > 0;) {
    run.output.append(block.data(), count);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) run.exit_code = WEXITSTATUS(status);
  return run;
}

bool Has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

class Demo : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "the demo makes a sandbox, which needs root";
    if (access(DEMO_ARCHIVE, R_OK) != 0) GTEST_SKIP() << "no " DEMO_ARCHIVE ": ./dev setup fetches it";
  }
};

// Every expectation of the demo holds, the ones that matter most were looked at, and what a step reports is there.
TEST_F(Demo, EveryExpectationHolds) {
  const Finished run = RunDemo("");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  for (const char* line :
       {"held: the archive is the pinned one", "held: inside and outside count the same: 1155 tests, 0 failed",
        "   | FAIL: test_links_539", "held: one test fails: test_links_539", "held: the tests pass again",
        "held: outside, the same command prints the secret", "held: inside nothing of the file is printed",
        "held: the host's /usr/bin has no such file", "held: outside, the same command connects",
        "held: the host's folder holds what it held", "exited 0 in ", ", CPU ", ", memory peak ",
        "All 20 expectations held."}) {
    EXPECT_TRUE(Has(run.output, line)) << line << " is not in:\n" << run.output;
  }
  EXPECT_FALSE(Has(run.output, "\033")) << "colour without a terminal";
}

TEST_F(Demo, RefusesAnUnknownOption) {
  const Finished run = RunDemo("--fast");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(Has(run.output, "usage: caisson-demo")) << run.output;
}

}  // namespace
}  // namespace caisson::demo
