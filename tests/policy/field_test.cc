#include <gtest/gtest.h>

#include "caisson/policy/zone.h"
#include "policy/policy_test.h"

// What users of other sandboxes report about policies that break ordinary work.

namespace caisson::support {
namespace {

class PolicyInTheField : public PolicyTest {};

// A folder without a repository, one that holds repositories, one whose .git is closed, one that cannot be written.
TEST_F(PolicyInTheField, AnyFolderCanBeWorkedIn) {
  UsePreset("minimal");
  ExpectRuns("ls");
  ExpectRuns("git init -q one && git init -q two && cd one && git status");
  ASSERT_EQ(ExitCode(Operate("chmod 000 one/.git")), 0);
  ExpectRuns("cd one && ls");
  ASSERT_EQ(ExitCode(Operate("mkdir closed && chmod 555 closed")), 0);
  ExpectRuns("cd closed && ls && cat /etc/hostname");
}

TEST_F(PolicyInTheField, NothingIsLeftInTheProject) {
  UsePreset("minimal");
  ExpectRuns("git init -q . && git config user.name n && git config user.email n@x");
  const auto before = Operate("find /home/agent /tmp /var/tmp -printf '%p %y %m %s\\n' | sort");
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(Ask(i % 2 == 0 ? "ls" : "git status --porcelain -uall").is_allowed());
  const auto after = Operate("find /home/agent /tmp /var/tmp -printf '%p %y %m %s\\n' | sort");
  EXPECT_EQ(before.out.kept, after.out.kept);
}

// A rule that makes the sandbox's own work impossible is told of at once, not at each command.
TEST_F(PolicyInTheField, ARuleThatCannotHoldIsRefusedAtTheStart) {
  for (const char* path : {"/home/agent/workspace/.env", "/home/agent/workspace/keys/**"}) {
    const std::string text =
        "version = 1\ndefault = \"ask\"\n[[rule]]\nname = \"work\"\neffect = \"allow\"\nactions = [\"file.read\", "
        "\"file.write\"]\npaths = [\"/home/agent/workspace/**\"]\n[[rule]]\nname = \"keep out\"\neffect = \"deny\"\n"
        "actions = [\"file.read\"]\npaths = [\"" +
        std::string(path) + "\"]\n";
    auto policy = policy::Policy::Read(text, document::Format::kToml, "policy.toml", policy::SystemZones());
    ASSERT_TRUE(policy) << policy.error().message();
    const Status held = policy::CheckEnforceable(*policy, {});
    ASSERT_FALSE(held);
    EXPECT_EQ(held.error().code(), Code::kUnsupported);
    EXPECT_NE(held.error().message().find("keep out"), std::string::npos) << held.error().message();
  }
}

TEST_F(PolicyInTheField, SessionsAndTerminalsWork) {
  UsePreset("minimal");
  ExpectRuns("python3 -c 'import os; os.setsid() if os.getpid() != os.getsid(0) else None'");
  ExpectRuns("python3 -c 'import pty; pty.spawn([\"/bin/ls\"])'");
  EXPECT_EQ(AskOnTerminal("ls").exit_code(), 0);
}

// Whole trees that nothing else allows are closed by a deny.
TEST_F(PolicyInTheField, WhatIsDeniedWholeIsClosed) {
  UseText(
      "version = 1\ndefault = \"deny\"\n[[rule]]\nname = \"tools\"\neffect = \"allow\"\ncommands = [\"ls\", \"cat\", "
      "\"python3\"]\n[[rule]]\nname = \"reads\"\neffect = \"allow\"\nactions = [\"file.read\", \"file.write\"]\npaths "
      "= "
      "[\"/home/agent/workspace/**\"]\n");
  ASSERT_EQ(ExitCode(Operate("echo secret > /home/agent/elsewhere && echo secret > /tmp/elsewhere && echo x > here")),
            0);
  ExpectRuns("cat here");
  EXPECT_NE(Ask("cat /home/agent/elsewhere").exit_code(), 0);
  EXPECT_NE(Ask("python3 -c 'open(\"/tmp/elsewhere\").read()'").exit_code(), 0);
  ExpectRuns("python3 -c 'open(\"new\", \"w\").write(\"x\")'");
  // Writing without deleting.
  EXPECT_NE(Ask("python3 -c 'import os; os.remove(\"here\")'").exit_code(), 0);
  ExpectRuns("python3 -c 'open(\"here\", \"w\").close()'");
}

}  // namespace
}  // namespace caisson::support
