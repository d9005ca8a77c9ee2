#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "policy/policy_test.h"

// Under `minimal` the program rm never starts, however it is spelled and whoever is to start it.

namespace caisson::support {
namespace {

class NoRm : public PolicyTest {
 protected:
  void SetUp() override {
    PolicyTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    UsePreset("minimal");
    ASSERT_EQ(ExitCode(Operate("mkdir kept && echo x > kept/file")), 0);
  }
  void TearDown() override {
    if (!IsSkipped() && !HasFatalFailure()) {
      EXPECT_TRUE(IsThere("kept/file"));
    }
    PolicyTest::TearDown();
  }
  // The listed program runs, and what it starts does not.
  void ExpectNothingGone(const std::string& text) {
    const Answer answer = Ask(text);
    EXPECT_TRUE(answer.is_allowed()) << text << "\n" << answer.text();
    EXPECT_TRUE(IsThere("kept/file")) << text << "\n" << answer.text();
  }
};

TEST_F(NoRm, InAnySpelling) {
  for (const char* text : {"rm -rf kept",
                           "rm -rf kept/*",
                           "/bin/rm -rf kept",
                           "/usr/bin/rm -rf kept",
                           "\\rm -rf kept",
                           "r''m -rf kept",
                           "$'\\x72m' -rf kept",
                           "ls; rm -rf kept",
                           "ls && rm -rf kept",
                           "ls | xargs rm -rf",
                           "env rm -rf kept",
                           "command rm -rf kept",
                           "exec rm -rf kept",
                           "a=rm; $a -rf kept",
                           "eval rm -rf kept",
                           "{rm,-rf,kept}",
                           "\"$(echo rm)\" -rf kept",
                           "ls $(rm -rf kept)",
                           "ls `rm -rf kept`",
                           "ls <(rm -rf kept)",
                           "(rm -rf kept)",
                           "if ls; then rm -rf kept; fi",
                           "f() { rm -rf kept; }; f",
                           "case x in x) rm -rf kept;; esac",
                           "cat <<EOF\n$(rm -rf kept)\nEOF",
                           "ls\nrm -rf kept",
                           "ls & rm -rf kept",
                           "! rm -rf kept",
                           "time rm -rf kept",
                           "timeout 5 rm -rf kept",
                           "nice rm -rf kept",
                           "bash -c 'rm -rf kept'",
                           "sh -c 'rm -rf kept'",
                           "/usr/bin/../bin/rm -rf kept",
                           "/proc/self/root/usr/bin/rm -rf kept",
                           "busybox rm -rf kept",
                           "/lib64/ld-linux-x86-64.so.2 /usr/bin/rm -rf kept",
                           "find kept -delete",
                           "git status; rm -rf kept"}) {
    ExpectRefused(text);
  }
}

TEST_F(NoRm, ByAProgramThatIsListed) {
  ExpectNothingGone("python3 -c 'import os; os.system(\"rm -rf kept\")'");
  ExpectNothingGone("python3 -c 'import subprocess; subprocess.run([\"/usr/bin/rm\", \"-rf\", \"kept\"])' || ls");
  ExpectNothingGone("python3 -c 'import os; os.execv(\"/bin/rm\", [\"rm\", \"-rf\", \"kept\"])' || ls");
  ExpectNothingGone("git -c alias.x='!rm -rf kept' x || ls");
  ASSERT_EQ(ExitCode(Operate("printf 'all:\\n\\trm -rf kept\\n' > Makefile")), 0);
  ExpectNothingGone("make || ls");
  ExpectNothingGone("make --eval='x:; rm -rf kept' x || ls");
}

TEST_F(NoRm, ByACopyOrALink) {
  ExpectNothingGone("python3 -c 'import shutil; shutil.copy(\"/usr/bin/rm\", \"cat\")' || ls");
  EXPECT_EQ(ExitCode(Operate("cp /usr/bin/rm mine && chmod +x mine && ln -s /usr/bin/rm link")), 0);
  for (const char* text : {"./mine -rf kept", "./link -rf kept"}) ExpectRefused(text);
  for (const char* program : {"./mine", "./link"}) {
    ExpectNothingGone("python3 -c 'import subprocess; subprocess.run([\"" + std::string(program) +
                      "\", \"-rf\", \"kept\"])' || ls");
  }
  // What can be written is never mapped for execution.
  ExpectNothingGone(
      "python3 -c 'import os; os.execv(\"/lib64/ld-linux-x86-64.so.2\", [\"x\", \"./mine\", \"-rf\", "
      "\"kept\"])' || ls");
  for (const char* place : {"/tmp", "/dev/shm", "/var/tmp", "/home/agent"}) {
    EXPECT_EQ(ExitCode(Operate("cp /usr/bin/rm " + std::string(place) + "/mine")), 0);
    ExpectNothingGone("python3 -c 'import os; os.execv(\"/lib64/ld-linux-x86-64.so.2\", [\"x\", \"" +
                      std::string(place) + "/mine\", \"-rf\", \"kept\"])' || ls");
  }
}

TEST_F(NoRm, ByTheLoader) {
  for (const char* program :
       {"/usr/bin/rm", "/bin/rm", "/usr/lib/git-core/../../bin/rm", "/proc/self/root/usr/bin/rm"}) {
    ExpectNothingGone("python3 -c 'import os; os.execv(\"/lib64/ld-linux-x86-64.so.2\", [\"x\", \"" +
                      std::string(program) + "\", \"-rf\", \"kept\"])' || ls");
  }
}

TEST_F(NoRm, ByAFileInMemory) {
  EXPECT_EQ(ExitCode(Operate("cp /usr/bin/rm /tmp/mine")), 0);
  ExpectNothingGone(
      "python3 -c 'import os; fd = os.memfd_create(\"x\"); os.write(fd, open(\"/tmp/mine\", "
      "\"rb\").read()); os.execve(\"/proc/self/fd/%d\" % fd, [\"rm\", \"-rf\", \"kept\"], {})' || ls");
}

TEST_F(NoRm, ButPythonMayDeleteWhatTheFileRulesAllow) {
  ASSERT_EQ(ExitCode(Operate("mkdir gone && echo x > gone/file")), 0);
  ExpectRuns("python3 -c 'import shutil; shutil.rmtree(\"gone\")'");
  EXPECT_FALSE(IsThere("gone"));
}

}  // namespace
}  // namespace caisson::support
