#include <gtest/gtest.h>
#include <signal.h>

#include "support/caisson_run.h"
#include "support/integration_test.h"

// What signals to `caisson run` do, and that it cleans up after each.

namespace caisson::support {
namespace {

using std::chrono::seconds;

class RunSignals : public IntegrationTest {
 protected:
  // Starts the script, which says "ready" when signals may come.
  static HostProgram Start(const Texts& options, const std::string& script, const std::string& marker) {
    return HostProgram(RunSpec(options, {"bash", "-c", script, marker}));
  }
};

TEST_F(RunSignals, TheFirstInterruptGoesToTheCommand) {
  HostProgram program = Start({}, "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.1; done", "x");
  ASSERT_TRUE(program.AwaitOutput("ready"));
  program.Signal(SIGINT);
  const Ended ended = program.Wait(seconds(20));
  EXPECT_EQ(ended.status, 5);
  EXPECT_NE(ended.out.find("caught"), std::string::npos);
}

TEST_F(RunSignals, AnInterruptedCommandEndsWith130) {
  const std::string marker = UniqueMarker();
  HostProgram program = Start({}, "echo ready; exec -a \"$0\" sleep 1000", marker);
  ASSERT_TRUE(program.AwaitOutput("ready"));
  program.Signal(SIGINT);
  EXPECT_EQ(program.Wait(seconds(20)).status, 130);
  EXPECT_EQ(CountProcessesNaming(marker), 0);
}

TEST_F(RunSignals, TheSecondInterruptEndsTheSandbox) {
  const std::string marker = UniqueMarker();
  HostProgram program =
      Start({}, "trap 'echo caught' INT TERM; echo ready; while :; do read -t 0.1 <> <(:); done", marker);
  ASSERT_TRUE(program.AwaitOutput("ready"));
  program.Signal(SIGINT);
  ASSERT_TRUE(program.AwaitOutput("caught"));
  const auto start = std::chrono::steady_clock::now();
  program.Signal(SIGINT);
  EXPECT_EQ(program.Wait(seconds(20)).status, 130);
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(5));
  EXPECT_EQ(CountProcessesNaming(marker), 0);
}

TEST_F(RunSignals, TerminationAndHangUpCancel) {
  for (const int signal : {SIGTERM, SIGHUP}) {
    const std::string marker = UniqueMarker();
    HostProgram program = Start({}, "trap '' TERM HUP; echo ready; exec -a \"$0\" sleep 1000", marker);
    ASSERT_TRUE(program.AwaitOutput("ready"));
    program.Signal(signal);
    const Ended ended = program.Wait(seconds(20));
    EXPECT_EQ(ended.status, 130) << "signal " << signal;
    EXPECT_EQ(CountProcessesNaming(marker), 0);
  }
}

TEST_F(RunSignals, ACancelledCommandStillHasAResult) {
  HostProgram program = Start({"--json", "--verbose"}, "echo some; echo ready >&2; exec sleep 1000", "x");
  // With --json the command's output comes at the end: its sandbox's name tells that it is about to start.
  ASSERT_TRUE(program.AwaitOutput("sandbox sb_"));
  program.Signal(SIGTERM);
  const StepResult result = ParseStepResult(program.Wait(seconds(20)));
  EXPECT_EQ(result.status, 130);
  EXPECT_EQ(result.outcome, "cancelled");
  EXPECT_FALSE(result.exit_code);
}

TEST_F(RunSignals, ASignalBeforeTheCommandStartsEndsTheRun) {
  // As early as may be, then ever later.
  for (int delay_us = 0; delay_us < 20000; delay_us += 1000) {
    HostProgram program = Start({}, "exec sleep 1000", "x");
    struct timespec delay{0, delay_us * 1000L};
    nanosleep(&delay, nullptr);
    program.Signal(SIGTERM);
    const Ended ended = program.Wait(seconds(20));
    EXPECT_TRUE(ended.status == 130 || ended.signal == SIGTERM) << ended.status << " after " << delay_us << " us";
  }
}

TEST_F(RunSignals, KillingCaissonItselfEndsTheCommand) {
  const std::string marker = UniqueMarker();
  HostProgram program = Start({}, "trap '' TERM HUP; echo ready; exec -a \"$0\" sleep 1000", marker);
  ASSERT_TRUE(program.AwaitOutput("ready"));
  program.Signal(SIGKILL);
  EXPECT_EQ(program.Wait(seconds(20)).signal, SIGKILL);
  EXPECT_TRUE(AwaitProcessesNaming(marker, 0));
}

TEST_F(RunSignals, AStoppedCaissonGoesOnWhenItIsContinued) {
  HostProgram program(RunSpec({}, {"bash", "-c", "echo ready; read line; echo $line"}));
  program.Signal(SIGSTOP);
  program.Signal(SIGCONT);
  EXPECT_EQ(program.Wait(seconds(20)).status, 0);
}

}  // namespace
}  // namespace caisson::support
