#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

#include "support/sandbox_test.h"
#include "support/temp_folder.h"

// What the library tells of a command besides its outcome.

namespace caisson::support {
namespace {

using sandbox::CommandResult;
using sandbox::CommandSpec;
using std::chrono::milliseconds;

class LibraryInputWait : public SandboxTest {
 protected:
  // On a terminal whose other end is silent.
  CommandResult OnTerminal(const std::string& script) {
    CommandSpec spec = Script(script);
    spec.terminal = sandbox::TerminalSize{};
    spec.timeout = milliseconds(800);
    return RunIn(box(), spec);
  }

  // With an input that is open and silent.
  CommandResult WithOpenInput(CommandSpec spec, milliseconds timeout = milliseconds(800)) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    const os::Fd read_end(ends[0]);
    const os::Fd write_end(ends[1]);
    spec.timeout = timeout;
    auto command = box().Start(spec);
    if (!command) {
      ADD_FAILURE() << command.error().message();
      return {};
    }
    auto result = command->Wait({.stdin_fd = read_end.get()});
    if (result) return *std::move(result);
    ADD_FAILURE() << result.error().message();
    return {};
  }
};

// On a busy host the answer may not come in time, and then is a no: one yes of several tries is what is promised.
template <typename Try>
bool WaitsOnce(Try attempt) {
  for (int i = 0; i < 5; ++i) {
    if (attempt().waits_for_input) return true;
  }
  return false;
}

// The launcher of the test's own engine: a child of the test, which comes before that of the canaries.
pid_t Launcher() {
  for (const pid_t pid : ProcessesBelow(getpid())) {
    if (ReadFile("/proc/" + std::to_string(pid) + "/comm").starts_with("caisson-launch")) return pid;
  }
  return -1;
}

TEST_F(LibraryInputWait, IsToldOfATerminal) {
  // The third as programs ask for a password.
  for (const char* script : {"read -r line", "cat", "cat < /dev/tty", "python3 -c 'input()'"}) {
    EXPECT_TRUE(WaitsOnce([&] { return OnTerminal(script); })) << script;
  }
  EXPECT_FALSE(OnTerminal("sleep 1000").waits_for_input);
  EXPECT_FALSE(OnTerminal("sleep 1000 | cat").waits_for_input);
}

TEST_F(LibraryInputWait, IsToldOfAPipe) {
  EXPECT_TRUE(WaitsOnce([&] { return WithOpenInput(Program({"cat"})); }));
  EXPECT_TRUE(WaitsOnce([&] { return WithOpenInput(Script("exec 5<&0 < /dev/null; cat <&5")); }))
      << "by another number";
  EXPECT_FALSE(WithOpenInput(Program({"sleep", "1000"})).waits_for_input);
  EXPECT_FALSE(RunIn(box(), Program({"cat"})).waits_for_input) << "an input that has ended";
}

TEST_F(LibraryInputWait, AsksTheLauncherNoLongerThanTheCommandCanWait) {
  const pid_t launcher = Launcher();
  ASSERT_GT(launcher, 0);
  ASSERT_EQ(kill(launcher, SIGSTOP), 0);
  const CommandResult result = WithOpenInput(Program({"cat"}));
  EXPECT_TRUE(std::holds_alternative<sandbox::TimedOut>(result.outcome));
  EXPECT_FALSE(result.waits_for_input) << "nobody could tell";
  ASSERT_EQ(kill(launcher, SIGCONT), 0);
  // The answer comes now, when nobody waits for it: the next request must not take it for its own.
  for (int i = 0; i < 8; ++i) EXPECT_EQ(ExitCode(RunIn(box(), Script("sleep 1000 & exit 7"))), 7);
  EXPECT_TRUE(WaitsOnce([&] { return WithOpenInput(Program({"cat"})); }));
}

TEST_F(LibraryInputWait, SeveralCommandsThatEndTogetherAreToldApart) {
  std::array<bool, 4> waited{};
  const auto all_did = [&] { return waited[0] && waited[2]; };
  for (int round = 0; round < 10 && !all_did(); ++round) {
    std::array<std::thread, 4> waiters;
    for (std::size_t i = 0; i < waiters.size(); ++i) {
      waiters[i] = std::thread([&, i] {
        const CommandSpec spec = i % 2 == 0 ? Program({"cat"}) : Program({"sleep", "1000"});
        if (WithOpenInput(spec).waits_for_input) waited[i] = true;
      });
    }
    for (std::thread& waiter : waiters) waiter.join();
  }
  EXPECT_EQ(waited, (std::array<bool, 4>{true, false, true, false}));
}

TEST_F(LibraryInputWait, TheLimitOfProcessesIsOneCommandsOwn) {
  sandbox::SandboxSpec spec;
  spec.limits.pids = 40;
  Replace(std::move(spec));
  const std::string many = "for i in $(seq 60); do sleep 1 & done 2> /dev/null; wait; exit 0";
  EXPECT_TRUE(RunIn(box(), Script(many)).hit_process_limit);
  EXPECT_FALSE(RunIn(box(), Script("sleep 0.1 & wait")).hit_process_limit) << "what an earlier command hit";
}

}  // namespace
}  // namespace caisson::support
