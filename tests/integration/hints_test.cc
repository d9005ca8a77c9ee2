#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>

#include "support/caisson_run.h"
#include "support/integration_test.h"
#include "support/temp_folder.h"

// The hints of `caisson run`: for each code a command that gets it, and one close to it that does not.

namespace caisson::support {
namespace {

class Hints : public IntegrationTest {};

using Found = std::map<std::string, std::string>;  // code: message and suggestion

Found HintsOf(const StepResult& result) {
  Found found;
  const boost::json::value* hints = result.whole.if_contains("hints");
  if (hints == nullptr) return found;
  for (const boost::json::value& hint : hints->as_array()) {
    const boost::json::object& object = hint.as_object();
    EXPECT_EQ(object.size(), 3U);
    found[std::string(object.at("code").as_string())] =
        std::string(object.at("message").as_string()) + " " + std::string(object.at("suggestion").as_string());
  }
  return found;
}

std::string ListOf(const Found& found) {
  std::string list;
  for (const auto& [code, text] : found) list += code + ": " + text + "\n";
  return list;
}

// The command gets this hint, alone, and it names these things.
void ExpectOnly(const StepResult& result, const std::string& code, const Texts& things) {
  const Found found = HintsOf(result);
  EXPECT_TRUE(found.size() == 1 && found.contains(code))
      << "wanted " << code << ", got " << ListOf(found) << result.err;
  for (const std::string& thing : things) {
    EXPECT_NE(ListOf(found).find(thing), std::string::npos) << thing << " is not in " << ListOf(found);
  }
}

void ExpectNone(const StepResult& result) {
  const Found found = HintsOf(result);
  EXPECT_TRUE(result.whole.contains("hints"));
  EXPECT_TRUE(found.empty()) << ListOf(found);
}

// Runs with a standard input that stays open and silent until the command has ended.
StepResult RunWithOpenInput(const Texts& options, const Texts& command) {
  Texts all = {"--json"};
  all.insert(all.end(), options.begin(), options.end());
  ProgramSpec spec = RunSpec(all, command);
  spec.input = Input::kPipe;
  HostProgram program(spec);
  return ParseStepResult(program.Wait());
}

TEST_F(Hints, CommandNotFound) {
  ExpectOnly(RunJson({}, {"nosuch"}), "command_not_found", {"`nosuch`", "--image"});
  ExpectOnly(RunScriptJson({}, "nosuch --version"), "command_not_found", {"`nosuch`"});
  ExpectOnly(RunJson({}, {"bash", "-c", "nosuch; exit 3"}), "command_not_found", {"`nosuch`"});
  ExpectOnly(RunJson({}, {"env", "nosuch"}), "command_not_found", {"`nosuch`"});
  ExpectOnly(RunJson({}, {"bash", "-c", "./nosuch"}), "command_not_found", {"`./nosuch`"});
  ExpectNone(RunScriptJson({}, "f() { return 127; }; f"));
  ExpectNone(RunScriptJson({}, "echo 'sh: 1: jq: not found'; exit 1"));
  ExpectNone(RunScriptJson({}, "echo 'bash: jq: command not found' >&2"));
}

TEST_F(Hints, PermissionDenied) {
  ExpectOnly(RunScriptJson({}, "touch /made"), "permission_denied", {"`/made`", "/home/agent/workspace"});
  ExpectOnly(RunJson({}, {"python3", "-c", "open('/made', 'w')"}), "permission_denied", {"`/made`"});
  ExpectOnly(RunJson({}, {"/etc/passwd"}), "permission_denied", {"`/etc/passwd`", "chmod +x"});
  ExpectOnly(RunScriptJson({}, "echo echo > tool; ./tool"), "permission_denied", {"`./tool`", "chmod +x"});
  ExpectNone(RunScriptJson({}, "echo 'cat: /x: Permission denied'"));
  ExpectNone(RunScriptJson({}, "touch /made || true"));
}

TEST_F(Hints, ReadOnlyPath) {
  const TempFolder folder;
  const Texts read_only = {"--workspace", folder.path() + ":ro"};
  ExpectOnly(RunScriptJson(read_only, "touch made"), "read_only_path", {"`made`", "`:ro`"});
  ExpectOnly(RunScriptJson({"--user", "root"}, "touch /usr/made"), "read_only_path", {"`/usr/made`", "/tmp"});
  ExpectNone(RunScriptJson(read_only, "touch /tmp/made && ls /tmp/made"));
  ExpectNone(RunScriptJson({}, "echo 'touch: x: Read-only file system'; exit 1"));
}

TEST_F(Hints, TimedOut) {
  ExpectOnly(RunJson({"--timeout", "300ms"}, {"sleep", "1000"}), "timed_out", {"300ms", "--timeout"});
  ExpectNone(RunScriptJson({}, "echo 'timed out' >&2; exit 124"));
}

TEST_F(Hints, TimedOutWaitingForInput) {
  for (const Texts& command : {Texts{"cat"},
                               {"sh", "-c", "read line"},
                               {"bash", "-c", "read -p 'Continue? ' line"},
                               {"python3", "-c", "input()"},
                               {"sh", "-c", "echo asks; (sleep 1000 & cat)"},
                               {"python3", "-c", "import select, sys; select.select([sys.stdin], [], [])"}}) {
    // On a busy host nobody can tell in time: one answer of several tries is what is promised.
    StepResult result;
    for (int i = 0; i < 5 && !HintsOf(result).contains("timed_out_waiting_for_input"); ++i) {
      result = RunWithOpenInput({"--timeout", "800ms"}, command);
    }
    ExpectOnly(result, "timed_out_waiting_for_input", {"800ms", "< /dev/null"});
  }
}

TEST_F(Hints, WaitingForSomethingElseIsNotWaitingForInput) {
  for (const Texts& command : {Texts{"sleep", "1000"},
                               {"sh", "-c", "sleep 1000 | cat"},
                               {"sh", "-c", "exec cat < /dev/zero > /dev/null"},
                               {"python3", "-c", "import os; os.read(os.pipe()[0], 1)"},
                               {"sh", "-c", "mkfifo fifo; cat fifo"}}) {
    ExpectOnly(RunWithOpenInput({"--timeout", "500ms"}, command), "timed_out", {"500ms"});
  }
  ExpectNone(RunJson({"--timeout", "20s"}, {"sh", "-c", "cat; echo over"}));
}

TEST_F(Hints, InputThatComesIsNotWaitedFor) {
  ProgramSpec spec = RunSpec({"--json", "--timeout", "700ms"}, {"sh", "-c", "exec cat > /dev/null"});
  spec.argv = {"bash", "-c", "yes | \"$@\"", "bash"};
  const ProgramSpec run = RunSpec({"--json", "--timeout", "700ms"}, {"sh", "-c", "exec cat > /dev/null"});
  spec.argv.insert(spec.argv.end(), run.argv.begin(), run.argv.end());
  ExpectOnly(ParseStepResult(RunProgram(spec)), "timed_out", {});
}

TEST_F(Hints, OutOfMemory) {
  const Texts options = {"--memory", "64MiB"};
  ExpectOnly(RunJson(options, {"python3", "-c", "bytearray(256 << 20)"}), "out_of_memory",
             {"64MiB", "--memory", "peak"});
  ExpectOnly(RunScriptJson(options, "python3 -c 'bytearray(256 << 20)'; echo on"), "out_of_memory", {"64MiB"});
  ExpectNone(RunScriptJson(options, "echo Killed >&2; kill -9 $$"));
}

TEST_F(Hints, DiskFull) {
  const Texts options = {"--disk", "1MiB"};
  ExpectOnly(RunScriptJson(options, "head -c 64M /dev/zero > f"), "disk_full", {"1MiB", "--disk"});
  ExpectNone(RunScriptJson(options, "head -c 64K /dev/zero > f; echo 'No space left on device'; exit 1"));
}

TEST_F(Hints, TooManyProcesses) {
  const Found found = HintsOf(
      RunJson({"--pids", "32", "--timeout", "3s"}, {"bash", "-c", "f() { f | f & }; f 2> /dev/null; exec sleep 1000"}));
  EXPECT_TRUE(found.contains("too_many_processes")) << ListOf(found);
  EXPECT_NE(ListOf(found).find("--pids above 32"), std::string::npos) << ListOf(found);
  ExpectNone(RunScriptJson({"--pids", "32"}, "for i in 1 2 3 4 5 6 7 8; do sleep 0.1 & done; wait; echo over"));
  ExpectNone(RunScriptJson({}, "echo 'sh: 1: Cannot fork' >&2; exit 2"));
}

TEST_F(Hints, NetworkBlocked) {
  ExpectOnly(RunJson({}, {"python3", "-c", "import socket; socket.create_connection(('example.com', 80))"}),
             "network_blocked", {"no network", "--workspace"});
  ExpectOnly(RunJson({}, {"python3", "-c", "import socket; socket.create_connection(('192.0.2.1', 80))"}),
             "network_blocked", {"no network"});
  ExpectNone(RunJson({}, {"python3", "-c", "import socket; socket.create_connection(('127.0.0.1', 80))"}));
  ExpectNone(RunScriptJson({}, "echo 'curl: (6) Could not resolve host: example.com'; exit 6"));
}

TEST_F(Hints, MissingPythonModule) {
  ExpectOnly(RunJson({}, {"python3", "-c", "import nosuch.part"}), "missing_python_module",
             {"`nosuch`", "pip install"});
  ExpectOnly(RunJson({}, {"python3", "-m", "nosuch"}), "missing_python_module", {"`nosuch`"});
  ExpectNone(RunJson({}, {"python3", "-c", "try:\n  import nosuch\nexcept ImportError as error:\n  print(error)"}));
}

TEST_F(Hints, OfTheOutputInAResult) {
  ExpectOnly(RunScriptJson({}, "head -c 2000000 /dev/zero | tr '\\0' x"), "output_truncated", {"stdout", "2000000"});
  ExpectOnly(RunScriptJson({}, "printf '\\377\\376'"), "non_utf8_output", {"stdout", "base64"});
  ExpectOnly(RunJson({}, {"python3", "-c", "1 + 1"}), "empty_output", {"print"});
  ExpectOnly(RunScriptJson({}, "ls"), "empty_output", {"`ls`"});
  ExpectNone(RunScriptJson({}, "head -c 1048576 /dev/zero | tr '\\0' x"));
  ExpectNone(RunScriptJson({}, "printf 'caf\\303\\251'"));
  ExpectNone(RunScriptJson({}, "true"));
}

TEST_F(Hints, AreFoundAtTheEndOfALongStream) {
  ExpectOnly(RunScriptJson({}, "head -c 500000 /dev/zero | tr '\\0' x >&2; echo >&2; touch /made"), "permission_denied",
             {"`/made`"});
  const Ended ended = RunScript({}, "head -c 3000000 /dev/zero | tr '\\0' x >&2; echo >&2; touch /made");
  EXPECT_NE(ended.err.find("caisson: hint: The command has no right to do this with `/made`"), std::string::npos);
}

TEST_F(Hints, AreTextAfterTheOutcome) {
  const Ended ended = RunScript({"--timeout", "300ms"}, "echo begins; sleep 1000");
  EXPECT_EQ(ended.out, "begins\n");
  EXPECT_TRUE(ended.err.starts_with("caisson: the command timed out after 300ms\ncaisson: hint: The command reached"))
      << ended.err;
  EXPECT_EQ(RunScript({"--quiet", "--timeout", "300ms"}, "sleep 1000").err, "");
  EXPECT_EQ(RunScript({}, "printf '\\377'").err, "") << "what passes through is as it was";
  EXPECT_EQ(RunScript({}, "head -c 2000000 /dev/zero").err, "");
  EXPECT_EQ(RunCommand({}, {"ls"}).err, "");
}

TEST_F(Hints, LetNothingOfTheSandboxSteerATerminal) {
  const Ended ended = RunScript({}, "printf 'sh: 1: \\033[2Jx\\033: not found\\n' >&2; exit 127");
  const std::size_t hint = ended.err.find("caisson: hint: ");
  ASSERT_NE(hint, std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find('\x1B', hint), std::string::npos);
  EXPECT_NE(ended.err.find("`\\x1b[2Jx\\x1b`", hint), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace caisson::support
