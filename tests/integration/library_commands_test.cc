#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <thread>

#include "support/caisson_run.h"
#include "support/sandbox_test.h"

// Commands in one sandbox, from several threads: each ends by itself, and alone.

namespace caisson::support {
namespace {

using sandbox::Command;
using sandbox::CommandResult;
using sandbox::CommandSpec;
using sandbox::Exited;
using sandbox::Sandbox;
using sandbox::TimedOut;
using std::chrono::milliseconds;
using std::chrono::seconds;

class LibraryCommands : public SandboxTest {
 protected:
  // Whether a process with this text in its arguments lives in the sandbox.
  bool Lives(const std::string& marker) { return RunIn(box(), Program({"pgrep", "-f", marker})).out.total_bytes > 0; }
};

TEST_F(LibraryCommands, EightThreadsWithTwentyCommandsEach) {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const std::string word = std::to_string(t) + "." + std::to_string(i);
        const CommandResult result = RunIn(box(), Script("echo " + word + "; exit " + std::to_string(i)));
        if (ExitCode(result) == i && result.out.kept == word + "\n") ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 160);
}

TEST_F(LibraryCommands, SandboxesFromSeveralThreads) {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) {
        auto made = sandboxes().Create({});
        if (!made) {
          ADD_FAILURE() << made.error().message() << ": " << made.error().cause();
          continue;
        }
        // Nothing of another sandbox is seen.
        const CommandResult result =
            RunIn(**made, Script("ls; echo > f" + std::to_string(t) + "; ps ax | grep -c caisson-guest"));
        if (ExitCode(result) == 0 && result.out.kept.find("f") == std::string::npos) ++right;
        if (auto destroyed = (*made)->Destroy(); !destroyed) ADD_FAILURE() << destroyed.error().message();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 40);
}

TEST_F(LibraryCommands, ATimeoutOfOneLeavesTheOtherAlone) {
  CommandSpec doomed = Script("exec -a doomed_mark sleep 1000");
  doomed.timeout = milliseconds(400);
  auto other = box().Start(Script("read x; echo untouched"));
  ASSERT_TRUE(other);
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const os::Fd reading(ends[0]);
  os::Fd writing(ends[1]);
  std::thread waiter([&] {
    auto result = other->Wait({.stdin_fd = reading.get()});
    ASSERT_TRUE(result);
    EXPECT_EQ(ExitCode(*result), 0);
    EXPECT_EQ(result->out.kept, "untouched\n");
  });
  const CommandResult killed = RunIn(box(), doomed);
  EXPECT_TRUE(std::holds_alternative<TimedOut>(killed.outcome));
  EXPECT_LT(killed.duration, seconds(5));
  writing.Reset();
  waiter.join();
}

TEST_F(LibraryCommands, ATimeoutEndsItsTreeAndNotAnEarlierCommandsServer) {
  EXPECT_EQ(ExitCode(RunIn(
                box(), Script("setsid bash -c 'exec -a earlier_server sleep 1000' > /dev/null 2>&1 < /dev/null &"))),
            0);
  CommandSpec doomed = Script(
      "setsid bash -c 'trap \"\" TERM; (exec -a doomed_tree sleep 1000) & exec -a doomed_tree sleep 1000' & "
      "bash -c 'kill -STOP $$' doomed_tree & while ! pgrep -f doomed_tree > /dev/null; do :; done; echo up; "
      "exec -a doomed_tree sleep 1000");
  doomed.timeout = milliseconds(1000);
  const CommandResult result = RunIn(box(), doomed);
  EXPECT_TRUE(std::holds_alternative<TimedOut>(result.outcome));
  EXPECT_EQ(result.out.kept, "up\n");
  EXPECT_FALSE(Lives("doomed_tre[e]"));
  EXPECT_TRUE(Lives("earlier_serve[r]"));
}

TEST_F(LibraryCommands, AServerOutlivesItsCommandAndLaterOnes) {
  EXPECT_EQ(ExitCode(RunIn(box(), Script("(exec -a keeps_running sleep 1000) > /dev/null 2>&1 &"))), 0);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ExitCode(RunIn(box(), Script("true"))), 0);
  EXPECT_TRUE(Lives("keeps_runnin[g]"));
  EXPECT_TRUE(box().Destroy());
  EXPECT_TRUE(AwaitProcessesNaming("keeps_running", 0));
}

TEST_F(LibraryCommands, DestroyingACommandEndsItsTree) {
  {
    auto command = box().Start(Script("exec -a dropped_mark sleep 1000"));
    ASSERT_TRUE(command);
    EXPECT_TRUE(AwaitProcessesNaming("dropped_mark", 1));
  }
  EXPECT_TRUE(AwaitProcessesNaming("dropped_mark", 0));
}

TEST_F(LibraryCommands, MovingACommandKeepsIt) {
  auto first = box().Start(Script("exit 3"));
  auto second = box().Start(Script("exit 4"));
  ASSERT_TRUE(first && second);
  Command moved = std::move(*first);
  auto result = moved.Wait();
  ASSERT_TRUE(result);
  EXPECT_EQ(ExitCode(*result), 3);
  moved = std::move(*second);
  result = moved.Wait();
  ASSERT_TRUE(result);
  EXPECT_EQ(ExitCode(*result), 4);
  EXPECT_FALSE(moved.Wait()) << "a second wait is a conflict";
}

TEST_F(LibraryCommands, DestroyingTheSandboxEndsAWait) {
  auto command = box().Start(Script("sleep 1000"));
  ASSERT_TRUE(command);
  std::thread waiter([&] {
    const auto result = command->Wait();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), Code::kUnavailable);
  });
  EXPECT_TRUE(box().Destroy());
  waiter.join();
  EXPECT_TRUE(box().Destroy()) << "a second time is nothing";
  const auto late = box().Start(Script("true"));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), Code::kUnavailable);
}

TEST_F(LibraryCommands, SignalsReachTheGroup) {
  auto command = box().Start(Script("trap 'exit 9' USR1; echo up; while :; do sleep 0.05; done"));
  ASSERT_TRUE(command);
  std::thread sender([&] {
    // Before the trap is set the signal ends it: what counts is that it arrives.
    EXPECT_TRUE(command->Signal(SIGUSR1));
  });
  const auto result = command->Wait();
  sender.join();
  ASSERT_TRUE(result);
  const auto* signaled = std::get_if<sandbox::Signaled>(&result->outcome);
  EXPECT_TRUE(ExitCode(*result) == 9 || (signaled != nullptr && signaled->signal == SIGUSR1));
}

TEST_F(LibraryCommands, BadCommandsAreErrors) {
  EXPECT_EQ(box().Start(CommandSpec{}).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(box().Start(Program({"echo", std::string(200000, 'a')})).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(box().Start(Program({"echo", std::string("a\0b", 3)})).error().code(), Code::kInvalidArgument);
  CommandSpec nowhere = Script("true");
  nowhere.cwd = "/nosuch";
  const CommandResult result = RunIn(box(), nowhere);
  const auto* failed = std::get_if<sandbox::FailedToStart>(&result.outcome);
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->step, "chdir");
  EXPECT_EQ(failed->errno_value, ENOENT);
}

TEST_F(LibraryCommands, ASpoolHoldsTheWholeOutput) {
  CommandSpec spec = Program({"seq", "1", "1000000"});
  spec.spool = sandbox::Spool::kKeep;
  spec.kept_output = Bytes{1000};
  const CommandResult result = RunIn(box(), spec);
  EXPECT_TRUE(result.out.truncated);
  EXPECT_EQ(result.out.kept.size(), 1000U);
  EXPECT_EQ(result.out.total_bytes, 6888896U);
  ASSERT_TRUE(result.out.spool.valid());
  ASSERT_EQ(lseek(result.out.spool.get(), 0, SEEK_SET), 0);
  const auto whole = os::ReadAll(result.out.spool.get(), 7000000);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->size(), result.out.total_bytes);
  EXPECT_EQ(whole->substr(0, 1000), result.out.kept);
  EXPECT_TRUE(whole->ends_with("\n999999\n1000000\n"));
}

TEST_F(LibraryCommands, WithoutASpoolOrWithALittleThereIsNone) {
  CommandSpec spec = Program({"seq", "1", "10"});
  spec.spool = sandbox::Spool::kKeep;
  EXPECT_FALSE(RunIn(box(), spec).out.spool.valid());
  spec = Program({"seq", "1", "1000000"});
  const CommandResult discarded = RunIn(box(), spec);
  EXPECT_TRUE(discarded.out.truncated);
  EXPECT_FALSE(discarded.out.spool.valid());
}

TEST_F(LibraryCommands, ManyCommandsLeaveNoDescriptors) {
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  // A few cgroups are kept ready, a handful of descriptors each.
  constexpr int kReady = 60;
  const auto first = open_files();
  for (int i = 0; i < 200; ++i) RunIn(box(), Script("true"));
  EXPECT_LE(open_files(), first + kReady);
}

}  // namespace
}  // namespace caisson::support
