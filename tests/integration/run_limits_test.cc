#include <gtest/gtest.h>

#include <algorithm>

#include "support/caisson_run.h"
#include "support/integration_test.h"
#include "support/storage_drivers.h"

// What a command may use, and that one which takes all it can get does not take it from others.

namespace caisson::support {
namespace {

using std::chrono::seconds;

class RunLimits : public IntegrationTest {
 protected:
  // While `greedy` is at it (it has written "ready"), another sandbox must work as ever.
  static void ExpectNeighbourAnswers(HostProgram& greedy) {
    ASSERT_TRUE(greedy.AwaitOutput("ready"));
    for (int i = 0; i < 3; ++i) {
      const Ended neighbour = RunScript({}, "echo ok");
      EXPECT_EQ(neighbour.out, "ok\n") << neighbour.err;
      EXPECT_EQ(neighbour.status, 0);
      EXPECT_LT(neighbour.duration, seconds(5));
    }
  }
};

constexpr const char* kPythonBomb = R"(
import os, sys
os.write(1, b'ready\n')
while True:
    try: os.fork()
    except OSError: pass
)";

TEST_F(RunLimits, AForkBombInShellIsContained) {
  const std::string marker = UniqueMarker();
  HostProgram bomb(
      RunSpec({"--timeout", "4s"},
              {"bash", "-c", "f() { f | f & }; echo ready; f 2> /dev/null; exec -a \"$0\" sleep 1000", marker}));
  ExpectNeighbourAnswers(bomb);
  const Ended ended = bomb.Wait();
  EXPECT_EQ(ended.status, 124);
  EXPECT_LT(ended.duration, seconds(10));
  EXPECT_EQ(CountProcessesNaming(marker), 0);
}

TEST_F(RunLimits, AForkBombOfSystemCallsIsContained) {
  const std::string marker = UniqueMarker();
  HostProgram bomb(RunSpec({"--timeout", "4s"}, {"python3", "-c", kPythonBomb, marker}));
  ExpectNeighbourAnswers(bomb);
  const Ended ended = bomb.Wait();
  EXPECT_EQ(ended.status, 124);
  EXPECT_LT(ended.duration, seconds(10));
  EXPECT_EQ(CountProcessesNaming(marker), 0);
}

TEST_F(RunLimits, ABombWhoseFirstProcessEndsLeavesNothing) {
  const std::string marker = UniqueMarker();
  const Ended ended =
      RunCommand({"--timeout", "20s"}, {"bash", "-c", ":() { : | : & }; : 2> /dev/null; exit 3", marker});
  EXPECT_EQ(ended.status, 3);
  EXPECT_EQ(CountProcessesNaming(marker), 0);
}

TEST_F(RunLimits, MemoryPastTheLimitEndsTheCommand) {
  const StepResult result = RunJson({}, {"python3", "-c", "x = bytearray(3 << 30); print(len(x))"});
  EXPECT_EQ(result.status, 137);
  EXPECT_EQ(result.outcome, "out_of_memory");
  EXPECT_FALSE(result.exit_code);
  EXPECT_EQ(result.out, "");
}

TEST_F(RunLimits, MemoryOfAChildIsTheCommands) {
  const StepResult result = RunScriptJson({"--memory", "64MiB"}, "python3 -c 'x = bytearray(256 << 20)'");
  EXPECT_EQ(result.status, 137);
  EXPECT_EQ(result.outcome, "out_of_memory");
}

TEST_F(RunLimits, AKillByTheCommandItselfIsNotAShortage) {
  EXPECT_EQ(RunScriptJson({"--memory", "64MiB"}, "kill -9 $$").outcome, "signaled");
}

TEST_F(RunLimits, MemoryThatFitsIsUsable) {
  EXPECT_EQ(RunJson({"--memory", "256MiB"}, {"python3", "-c", "x = bytearray(128 << 20)"}).exit_code, 0);
}

TEST_F(RunLimits, AThrashingNeighbourDoesNotDisturb) {
  HostProgram greedy(RunSpec({"--memory", "64MiB", "--timeout", "4s"},
                             {"bash", "-c", "echo ready; while :; do python3 -c 'bytearray(1 << 30)'; done"}));
  ExpectNeighbourAnswers(greedy);
  greedy.Signal(SIGTERM);
  EXPECT_EQ(greedy.Wait(seconds(20)).status, 130);
}

TEST_F(RunLimits, EndlessOutputIsBoundedAndCounted) {
  const StepResult result = RunJson({"--timeout", "2s"}, {"yes"});
  EXPECT_EQ(result.status, 124);
  EXPECT_EQ(result.outcome, "timed_out");
  EXPECT_EQ(result.out.size(), 1U << 20U);
  EXPECT_GT(result.out_bytes, 1U << 20U);
  EXPECT_EQ(result.whole.at("truncated"), (boost::json::array{"stdout"}));
  EXPECT_LT(result.duration_ms, 7000);
}

TEST_F(RunLimits, AFloodDoesNotDisturbANeighbour) {
  HostProgram greedy(RunSpec({"--json", "--timeout", "4s", "--verbose"}, {"yes"}));
  ASSERT_TRUE(greedy.AwaitOutput("sandbox sb_"));
  for (int i = 0; i < 3; ++i) {
    const Ended neighbour = RunScript({}, "echo ok");
    EXPECT_EQ(neighbour.out, "ok\n");
    EXPECT_LT(neighbour.duration, seconds(5));
  }
  EXPECT_EQ(greedy.Wait(seconds(20)).status, 124);
}

TEST_F(RunLimits, TheCountOfTheOutputIsExact) {
  const StepResult result = RunJson({}, {"head", "-c", "3000000", "/dev/zero"});
  EXPECT_EQ(result.out_bytes, 3000000U);
  EXPECT_EQ(result.out.size(), 1048576U);
  EXPECT_EQ(result.whole.at("truncated"), (boost::json::array{"stdout"}));
  const StepResult fits = RunJson({}, {"head", "-c", "1048576", "/dev/zero"});
  EXPECT_EQ(fits.out_bytes, 1048576U);
  EXPECT_TRUE(fits.whole.at("truncated").as_array().empty());
}

TEST_F(RunLimits, FilesInMemoryAreCounted) {
  for (const char* folder : {"/dev/shm", "/tmp", "/home/agent/workspace"}) {
    const StepResult result = RunScriptJson(
        {"--memory", "64MiB"}, "dd if=/dev/zero of=" + std::string(folder) + "/big bs=1M count=200; echo status $?");
    const bool full =
        result.err.find("No space left") != std::string::npos && result.out.find("status 0") == std::string::npos;
    EXPECT_TRUE(full || result.outcome == "out_of_memory") << folder << ": " << result.outcome << result.err;
  }
}

TEST_F(RunLimits, TheDiskIsBounded) {
  const StepResult result =
      RunScriptJson({"--disk", "10MiB"},
                    "head -c 6M /dev/zero > one; head -c 6M /dev/zero > two; rm two; echo small > small && cat small");
  EXPECT_NE(result.err.find("No space left"), std::string::npos) << result.err;
  EXPECT_EQ(result.out, "small\n") << "after making room";
  EXPECT_EQ(RunScript({"--disk", "10MiB"}, "head -c 5000000 /dev/zero > fits").status, 0);
}

TEST_F(RunLimits, TheDiskIsBoundedInTheStore) {
  if (const std::string why = WhyMissing(plan::Storage::kBtrfs); !why.empty()) GTEST_SKIP() << why;
  const Texts options = {"--storage", "btrfs", "--disk", "16MiB"};
  const StepResult full = RunScriptJson(options, "head -c 64M /dev/zero > f");
  EXPECT_EQ(full.status, 1);
  EXPECT_NE(full.err.find("Disk quota exceeded"), std::string::npos) << full.err;
  ASSERT_EQ(full.whole.at("hints").as_array().size(), 1U);
  EXPECT_EQ(full.whole.at("hints").as_array()[0].at("code").as_string(), "disk_full");
  // In a sandbox that fills its layer others have room, and what is removed can be written again.
  EXPECT_EQ(RunScript(options, "head -c 64M /dev/zero > f; rm f; sync; head -c 8M /dev/zero > g").status, 0);
}

TEST_F(RunLimits, OneFileLargerThanTheDiskIsRefused) {
  const StepResult result = RunScriptJson({"--disk", "10MiB"}, "head -c 50M /dev/zero > big; stat -c %s big");
  EXPECT_LE(std::atoll(result.out.c_str()), 10 << 20) << result.out;
  EXPECT_NE(result.out, "");
}

TEST_F(RunLimits, FilesAreBoundedInNumber) {
  const Ended ended = RunCommand({"--disk", "16MiB"}, {"python3", "-c", R"(
import os
made = 0
try:
    while made < 1000000:
        os.close(os.open(f'f{made}', os.O_CREAT | os.O_WRONLY))
        made += 1
except OSError as error:
    print(made, error.errno)
)"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_NE(ended.out.find(" 28"), std::string::npos) << "expected ENOSPC: " << ended.out << ended.err;
}

TEST_F(RunLimits, ProcessesAreBounded) {
  const Ended ended = RunCommand({"--pids", "20"}, {"python3", "-c", R"(
import os, time
made = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(1000)
        made += 1
except OSError as error:
    print(made, error.errno)
)"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  const int made = std::atoi(ended.out.c_str());
  EXPECT_GE(made, 10);
  EXPECT_LE(made, 20);
  EXPECT_NE(ended.out.find(" 11"), std::string::npos) << "expected EAGAIN: " << ended.out;
}

TEST_F(RunLimits, ThreadsCountAsProcesses) {
  const Ended ended = RunCommand({"--pids", "20"}, {"python3", "-c", R"(
import threading, time
made = 0
try:
    while True:
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
        made += 1
except RuntimeError:
    print(made, flush=True)
)"});
  EXPECT_GE(std::atoi(ended.out.c_str()), 10);
  EXPECT_LE(std::atoi(ended.out.c_str()), 20);
}

TEST_F(RunLimits, CpuTimeIsBounded) {
  const StepResult result =
      RunScriptJson({"--cpus", "0.5", "--timeout", "2s"}, "(while :; do :; done) & (while :; do :; done) & wait");
  EXPECT_EQ(result.status, 124);
  const double share = result.cpu_ms / result.duration_ms;
  EXPECT_GT(share, 0.1);
  EXPECT_LT(share, 0.8);
}

TEST_F(RunLimits, UsageIsOfTheWholeTree) {
  const StepResult result = RunScriptJson({}, "(python3 -c 'for i in range(5000000): pass')");
  EXPECT_GT(result.cpu_ms, 20);
}

TEST_F(RunLimits, DeepOutputStormOnBothStreamsEnds) {
  const StepResult result = RunScriptJson({"--timeout", "1s"}, "yes & yes >&2 & wait");
  EXPECT_EQ(result.outcome, "timed_out");
  EXPECT_EQ(result.whole.at("truncated"), (boost::json::array{"stdout", "stderr"}));
}

}  // namespace
}  // namespace caisson::support
