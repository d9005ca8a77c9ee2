#include <gtest/gtest.h>

#include "support/sandbox_test.h"

// Attacks of commands on the sandbox's PID 1: whatever they do, the next command is answered.

namespace caisson::support {
namespace {

using sandbox::CommandResult;
using sandbox::CommandSpec;
using sandbox::User;
using std::chrono::milliseconds;
using std::chrono::seconds;

class InitAttacks : public SandboxTest {
 protected:
  CommandResult Python(const std::string& program, User user = User::kAgent, milliseconds timeout = seconds(30)) {
    CommandSpec spec = Program({"python3", "-c", program});
    spec.user = user;
    spec.timeout = timeout;
    return RunIn(box(), spec);
  }

  void ExpectNextCommandIsAnswered() {
    const auto start = std::chrono::steady_clock::now();
    const CommandResult next = RunIn(box(), Script("echo still here"));
    EXPECT_EQ(next.out.kept, "still here\n");
    EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(5));
  }
};

TEST_F(InitAttacks, SignalsToItAreRefused) {
  for (const User user : {User::kAgent, User::kRoot}) {
    const CommandResult result = Python(R"(
import os
for signal in range(1, 65):
    try:
        os.kill(1, signal)
        print('sent', signal)
    except OSError:
        pass
try:
    os.kill(-1, 19)
except OSError:
    pass
)",
                                        user);
    EXPECT_EQ(result.out.kept, "");
    ExpectNextCommandIsAnswered();
  }
}

TEST_F(InitAttacks, ItCannotBeTracedOrLookedInto) {
  for (const User user : {User::kAgent, User::kRoot}) {
    const CommandResult result = Python(R"(
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for request in (16, 0x4206):
    if libc.ptrace(request, 1, 0, 0) == 0: print('traced', request)
for name in ('mem', 'environ', 'maps', 'fd/3', 'root', 'cwd', 'exe', 'ns/pid', 'syscall', 'stack'):
    try:
        os.open('/proc/1/' + name, os.O_RDONLY)
        print('opened', name)
    except OSError:
        pass
for name in ('mem', 'oom_score_adj', 'coredump_filter', 'clear_refs', 'timerslack_ns', 'comm'):
    try:
        os.write(os.open('/proc/1/' + name, os.O_WRONLY), b'1')
        print('wrote', name)
    except OSError:
        pass
)",
                                        user);
    EXPECT_EQ(ExitCode(result), 0) << result.err.kept;
    EXPECT_EQ(result.out.kept, "");
    ExpectNextCommandIsAnswered();
  }
}

TEST_F(InitAttacks, TwentyThousandOrphansAreReaped) {
  const CommandResult result = Python(R"(
import os
made = 0
while made < 20000:
    try:
        pid = os.fork()
    except OSError:
        continue
    if pid == 0:
        try:
            if os.fork() == 0: pass
        except OSError:
            pass
        os._exit(0)
    os.waitpid(pid, 0)
    made += 1
print(made)
)",
                                      User::kAgent, seconds(100));
  EXPECT_EQ(result.out.kept, "20000\n") << result.err.kept;
  ExpectNextCommandIsAnswered();
  EXPECT_EQ(RunIn(box(), Script("ps -eo stat= | grep -c Z")).out.kept, "0\n");
}

TEST_F(InitAttacks, OrphansWhileOthersWorkDelayNobody) {
  auto flood = box().Start(Script("while :; do (sleep 0 &) 2> /dev/null; done"));
  ASSERT_TRUE(flood);
  for (int i = 0; i < 10; ++i) ExpectNextCommandIsAnswered();
}

TEST_F(InitAttacks, AFullProcessTableStillTakesACommandAfterIt) {
  CommandSpec spec = Program({"python3", "-c", "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"});
  spec.timeout = seconds(2);
  const CommandResult result = RunIn(box(), spec);
  EXPECT_TRUE(std::holds_alternative<sandbox::TimedOut>(result.outcome));
  EXPECT_LT(result.duration, seconds(7));
  ExpectNextCommandIsAnswered();
}

TEST_F(InitAttacks, AShortageOfMemoryDoesNotTakeIt) {
  sandbox::SandboxSpec small;
  small.limits.memory = MiB(64);
  Replace(std::move(small));
  for (int i = 0; i < 3; ++i) {
    const CommandResult result = Python("x = bytearray(1 << 30)");
    EXPECT_TRUE(std::holds_alternative<sandbox::OutOfMemory>(result.outcome));
    ExpectNextCommandIsAnswered();
  }
}

TEST_F(InitAttacks, FilesInMemoryUpToTheLimitDoNotTakeIt) {
  sandbox::SandboxSpec small;
  small.limits.memory = MiB(64);
  Replace(std::move(small));
  (void)RunIn(box(), Script("head -c 100M /dev/zero > /dev/shm/a; head -c 100M /dev/zero > /tmp/b; "
                            "head -c 100M /dev/zero > c; true"));
  ExpectNextCommandIsAnswered();
}

TEST_F(InitAttacks, KillingEverythingElseLeavesIt) {
  auto server = box().Start(Script("exec sleep 1000"));
  ASSERT_TRUE(server);
  (void)RunIn(box(), Script("kill -9 -1"));
  ExpectNextCommandIsAnswered();
  const auto ended = server->Wait();
  ASSERT_TRUE(ended);
  const auto* signaled = std::get_if<sandbox::Signaled>(&ended->outcome);
  ASSERT_NE(signaled, nullptr);
  EXPECT_EQ(signaled->signal, 9);
}

TEST_F(InitAttacks, DescriptorsOfIts) {
  const CommandResult result = RunIn(box(), Script("ls -l /proc/1/fd /proc/1/task/1/fd 2> /dev/null | wc -l"));
  EXPECT_EQ(result.out.kept.find("socket"), std::string::npos);
  ExpectNextCommandIsAnswered();
}

}  // namespace
}  // namespace caisson::support
