#include <gtest/gtest.h>

#include <cerrno>

#include "caisson/hint/ended_command.h"
#include "caisson/hint/rules.h"

namespace caisson::hint {
namespace {

using sandbox::Exited;
using sandbox::FailedToStart;

EndedCommand NotStarted(FailedToStart::Reason reason, const std::string& program) {
  EndedCommand ended(FailedToStart{.reason = reason, .errno_value = ENOENT, .step = "exec"}, "");
  ended.command.argv = {program};
  return ended;
}

TEST(CommandNotFound, NamesTheProgramThatDidNotStart) {
  const std::string said = Said(CommandNotFound, NotStarted(FailedToStart::Reason::kNotFound, "jq"));
  EXPECT_EQ(said, "`jq` is not in the sandbox. Use `python3 -m json.tool`, or an image that has `jq`: --image DIR.");
  EXPECT_TRUE(Names(Said(CommandNotFound, NotStarted(FailedToStart::Reason::kNotFound, "./tool")), "ls -l ./tool"));
  EXPECT_EQ(Said(CommandNotFound, NotStarted(FailedToStart::Reason::kNotExecutable, "./tool")), "");
  EXPECT_EQ(Said(CommandNotFound, NotStarted(FailedToStart::Reason::kOther, "./tool")), "");
}

TEST(CommandNotFound, KnowsTheWordsOfEachShell) {
  for (const char* err : {"bash: line 1: frobnicate: command not found\n", "bash: frobnicate: command not found\n",
                          "./build.sh: line 3: frobnicate: command not found\nmore\n", "sh: 1: frobnicate: not found\n",
                          "./build.sh: 12: frobnicate: not found\n", "sh: frobnicate: not found\n",
                          "/bin/sh: 1: frobnicate: not found\nmake: *** [Makefile:2: all] Error 127\n",
                          "zsh:1: command not found: frobnicate\n", "sudo: frobnicate: command not found\r\n"}) {
    EXPECT_TRUE(Names(Said(CommandNotFound, ThatFailed(err, 2)), "`frobnicate` is not in the sandbox")) << err;
  }
}

TEST(CommandNotFound, KnowsTheWordsOfProgramsThatStartOthers) {
  for (const char* err :
       {"env: 'frobnicate': No such file or directory\n",
        "/usr/bin/env: \xE2\x80\x98"
        "frobnicate\xE2\x80\x99: No such file or directory\n",
        "xargs: frobnicate: No such file or directory\n",
        "timeout: failed to run command 'frobnicate': No such file or directory\n",
        "make: frobnicate: No such file or directory\nmake: *** [Makefile:2: all] Error 127\n",
        "Can't exec \"frobnicate\": No such file or directory at -e line 1.\n", "Error: spawn frobnicate ENOENT\n",
        "  File \"/usr/lib/python3.11/subprocess.py\", line 1, in _execute_child\n"
        "FileNotFoundError: [Errno 2] No such file or directory: 'frobnicate'\n"}) {
    EXPECT_TRUE(Names(Said(CommandNotFound, ThatFailed(err, 1)), "`frobnicate` is not in the sandbox")) << err;
  }
}

TEST(CommandNotFound, KnowsAPathThatIsNotThere) {
  for (const char* err :
       {"bash: line 1: ./tool: No such file or directory\n",
        "bash: line 1: ./tool: cannot execute: required file not found\n", "sh: 1: ./tool: not found\n"}) {
    EXPECT_TRUE(Names(Said(CommandNotFound, ThatFailed(err, 127)), "`./tool` is not in the sandbox")) << err;
  }
  EXPECT_EQ(Said(CommandNotFound, ThatFailed("bash: line 1: in.txt: No such file or directory\n", 1)), "")
      << "a redirection from a file that is not there";
}

TEST(CommandNotFound, IsSilentWithoutEvidence) {
  EXPECT_EQ(Said(CommandNotFound, ThatFailed("", 127)), "") << "a function that returned 127";
  EXPECT_EQ(Said(CommandNotFound, {Exited{0}, "bash: line 1: jq: command not found\n"}), "");
  EXPECT_EQ(Said(CommandNotFound, {Exited{1}, "", "bash: line 1: jq: command not found\n"}), "") << "on stdout";
  for (const char* err :
       {"command not found\n", ": command not found\n", "404: page: not found\n", "key: not found\n",
        "cat: jq: No such file or directory\n", "make: extra.mk: No such file or directory\n",
        "FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'\n", "libx.so => not found\n"}) {
    EXPECT_EQ(Said(CommandNotFound, ThatFailed(err, 1)), "") << err;
  }
}

TEST(CommandNotFound, TrustsNoName) {
  const std::string said =
      Said(CommandNotFound, ThatFailed("sh: 1: \x1B[2J`" + std::string(5000, 'x') + ": not found\n", 127));
  EXPECT_TRUE(Names(said, "`\\x1b[2J'xxx"));
  EXPECT_LT(said.size(), 700U);
}

TEST(MissingPythonModule, NamesTheModuleAndItsPackage) {
  for (const char* err : {"Traceback (most recent call last):\nModuleNotFoundError: No module named 'yaml'\n",
                          "E   ModuleNotFoundError: No module named 'yaml.loader'\n",
                          "ImportError: No module named yaml\n", "/usr/bin/python3: No module named yaml\n",
                          "/usr/bin/python3: Error while finding module specification for 'yaml.x' "
                          "(ModuleNotFoundError: No module named 'yaml')\n"}) {
    const std::string said = Said(MissingPythonModule, ThatFailed(err));
    EXPECT_TRUE(Names(said, "no module `yaml` in") && Names(said, "`PyYAML`")) << err << said;
  }
  EXPECT_TRUE(Names(Said(MissingPythonModule, ThatFailed("ModuleNotFoundError: No module named 'requests'\n")),
                    "package `requests`"));
}

TEST(MissingPythonModule, IsSilentWithoutEvidence) {
  const std::string err = "ModuleNotFoundError: No module named 'yaml'\n";
  EXPECT_EQ(Said(MissingPythonModule, {Exited{0}, err}), "") << "caught and logged";
  EXPECT_EQ(Said(MissingPythonModule, {Exited{1}, "", err}), "");
  EXPECT_EQ(Said(MissingPythonModule, ThatFailed("linker: No module named x\n")), "");
  EXPECT_EQ(Said(MissingPythonModule, ThatFailed("ModuleNotFoundError: No module named '\x1B[0m'\n")), "");
}

}  // namespace
}  // namespace caisson::hint
