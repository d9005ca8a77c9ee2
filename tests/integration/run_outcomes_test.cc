#include <gtest/gtest.h>

#include <regex>

#include "caisson/base/id.h"
#include "support/caisson_run.h"
#include "support/integration_test.h"
#include "support/temp_folder.h"

// How `caisson run` tells what became of a command: its exit status and the fields of the result.

namespace caisson::support {
namespace {

using std::chrono::seconds;

class RunOutcomes : public IntegrationTest {};

TEST_F(RunOutcomes, TheExitStatusIsTheCommandsOwn) {
  for (const int code : {0, 1, 3, 124, 125, 126, 127, 130, 255}) {
    const Ended ended = RunScript({}, "exit " + std::to_string(code));
    EXPECT_EQ(ended.status, code);
    EXPECT_EQ(ended.signal, 0);
    EXPECT_EQ(ended.err, "");
  }
}

TEST_F(RunOutcomes, JsonHasEveryFieldOfAResult) {
  const StepResult result = RunScriptJson({}, "echo hi; echo no >&2; exit 3");
  EXPECT_EQ(result.status, 3);
  boost::json::object whole = result.whole;
  EXPECT_TRUE(whole["sandbox"].is_string() && SandboxId::Parse(std::string(whole["sandbox"].as_string())));
  EXPECT_EQ(whole["step"], 1);
  EXPECT_EQ(whole["tool"], "run_command");
  EXPECT_EQ(whole["outcome"], "exited");
  EXPECT_EQ(whole["exit_code"], 3);
  EXPECT_TRUE(whole["signal"].is_null());
  EXPECT_EQ(whole["stdout"], "hi\n");
  EXPECT_EQ(whole["stderr"], "no\n");
  EXPECT_EQ(whole["stdout_bytes"], 3);
  EXPECT_EQ(whole["stderr_bytes"], 3);
  EXPECT_TRUE(whole["truncated"].is_array() && whole["truncated"].get_array().empty());
  EXPECT_EQ(whole["encoding"], "utf-8");
  EXPECT_TRUE(whole["data"].is_null());
  EXPECT_GT(result.duration_ms, 0);
  EXPECT_GE(result.cpu_ms, 0);
  EXPECT_TRUE(whole["memory_peak_bytes"].is_null() || whole["memory_peak_bytes"].is_int64());
  EXPECT_TRUE(whole["files_changed"].is_null() || whole["files_changed"].is_array());
  EXPECT_TRUE(whole["files_changed_truncated"].is_bool());
  EXPECT_TRUE(whole["checkpoint"].is_null() || whole["checkpoint"].is_string());
  EXPECT_TRUE(whole["decision"].is_null() || whole["decision"].is_object());
  EXPECT_TRUE(whole["hints"].is_array());
  EXPECT_TRUE(whole["budget"].is_null() || whole["budget"].is_object());
  EXPECT_EQ(whole.size(), 22U) << "a field is missing, or one is not in the contract";
}

// Starts processes that try everything to outlive their command: sessions of their own, double forks, ignored signals,
// a stopped process. Each has $1 in its arguments.
constexpr const char* kEscapees = R"(
trap '' TERM INT HUP QUIT
setsid bash -c 'exec -a "$0" sleep 1000' "$1" &
( ( exec -a "$1" sleep 1000 & ) & )
bash -c 'kill -STOP $$' "$1" &
setsid setsid bash -c 'trap "" TERM; ( exec -a "$0" sleep 1000 & ); exec -a "$0" sleep 1000' "$1" > /dev/null 2>&1 &
echo started
exec -a "$1" sleep 1000
)";

TEST_F(RunOutcomes, ATimeoutEndsTheWholeProcessTree) {
  const std::string marker = UniqueMarker();
  HostProgram program(RunSpec({"--timeout", "1500ms"}, {"bash", "-c", kEscapees, "bash", marker}));
  ASSERT_TRUE(program.AwaitOutput("started"));
  // Itself, its four, and `caisson`: the search must be able to find them.
  EXPECT_TRUE(AwaitProcessesNaming(marker, 5));
  const Ended ended = program.Wait();
  EXPECT_EQ(ended.status, 124);
  EXPECT_LT(ended.duration, seconds(5));
  EXPECT_NE(ended.err.find("timed out after 1500ms"), std::string::npos) << ended.err;
  EXPECT_EQ(CountProcessesNaming(marker), 0);
}

TEST_F(RunOutcomes, ATimeoutIsAnOutcomeInJson) {
  const StepResult result = RunScriptJson({"--timeout", "300ms"}, "echo before; sleep 1000");
  EXPECT_EQ(result.status, 124);
  EXPECT_EQ(result.outcome, "timed_out");
  EXPECT_FALSE(result.exit_code);
  EXPECT_EQ(result.out, "before\n");
  EXPECT_GE(result.duration_ms, 300);
  EXPECT_LT(result.duration_ms, 5000);
}

TEST_F(RunOutcomes, ACommandThatStopsItselfTimesOut) {
  EXPECT_EQ(RunScript({"--timeout", "300ms"}, "kill -STOP $$").status, 124);
}

TEST_F(RunOutcomes, ASignalEndsWith128AndItsNumber) {
  EXPECT_EQ(RunScript({}, "kill -9 $$").status, 137);
  EXPECT_EQ(RunScript({}, "kill -TERM $$").status, 143);
  EXPECT_EQ(RunScript({}, "kill -SEGV $$").status, 139);
  const StepResult result = RunScriptJson({}, "kill -9 $$");
  EXPECT_EQ(result.status, 137);
  EXPECT_EQ(result.outcome, "signaled");
  EXPECT_EQ(result.signal, "SIGKILL");
  EXPECT_FALSE(result.exit_code);
}

TEST_F(RunOutcomes, ACommandThatIsNotThereIs127) {
  const Ended ended = RunCommand({}, {"nosuch"});
  EXPECT_EQ(ended.status, 127);
  EXPECT_NE(ended.err.find("nosuch"), std::string::npos) << ended.err;
  EXPECT_EQ(RunCommand({}, {"/nosuch/program"}).status, 127);
  EXPECT_EQ(RunCommand({}, {"./nosuch"}).status, 127);
  EXPECT_EQ(RunJson({}, {"nosuch"}).outcome, "failed_to_start");
}

TEST_F(RunOutcomes, ACommandThatCannotBeExecutedIs126) {
  EXPECT_EQ(RunCommand({}, {"/etc/passwd"}).status, 126);
  EXPECT_EQ(RunCommand({}, {"/usr"}).status, 126) << "a folder";
  EXPECT_EQ(RunCommand({}, {"/usr/bin/"}).status, 126) << "a folder with a slash";
  const StepResult result = RunJson({}, {"/etc/passwd"});
  EXPECT_EQ(result.status, 126);
  EXPECT_EQ(result.outcome, "failed_to_start");
  EXPECT_FALSE(result.exit_code);
}

TEST_F(RunOutcomes, BrokenProgramsAreToldApart) {
  const TempFolder folder;
  WriteFile(folder / "lost", "#!/nosuch/interpreter\n", 0755);
  WriteFile(folder / "empty", "", 0755);
  WriteFile(folder / "noise",
            "\x7f"
            "ELF nothing of the kind",
            0755);
  WriteFile(folder / "plain", "#!/bin/sh\nexit 7\n", 0644);
  WriteFile(folder / "good", "#!/bin/sh\nexit 7\n", 0755);
  const Texts options = {"--workspace", folder.path()};
  EXPECT_EQ(RunCommand(options, {"./lost"}).status, 127) << "the interpreter is missing";
  EXPECT_EQ(RunCommand(options, {"./noise"}).status, 126);
  EXPECT_EQ(RunCommand(options, {"./plain"}).status, 126);
  EXPECT_EQ(RunCommand(options, {"./empty"}).status, 126);
  EXPECT_EQ(RunCommand(options, {"./good"}).status, 7);
}

TEST_F(RunOutcomes, TheEnvironmentIsTheFixedOneAndWhatWasGiven) {
  ProgramSpec spec = RunSpec({"--env", "A=1", "--env", "LANG=C", "--env", "EMPTY=", "--env", "A=2"}, {"env", "-0"});
  spec.env = {"LEAKED_SECRET=1", "LD_PRELOAD=", "BASH_ENV=/x"};
  const Ended ended = RunProgram(spec);
  EXPECT_EQ(ended.status, 0);
  std::set<std::string> variables;
  for (std::size_t at = 0; at < ended.out.size();) {
    const std::string variable = ended.out.c_str() + at;
    variables.insert(variable);
    at += variable.size() + 1;
  }
  for (const char* wanted : {"A=2", "LANG=C", "EMPTY=", "HOME=/home/agent", "USER=agent", "TZ=UTC",
                             "PYTHONUNBUFFERED=1", "PYTHONIOENCODING=utf-8"}) {
    EXPECT_TRUE(variables.contains(wanted)) << wanted << " is not in " << ended.out;
  }
  for (const std::string& variable : variables) {
    EXPECT_FALSE(variable.starts_with("LEAKED") || variable.starts_with("LD_") || variable.starts_with("BASH_ENV") ||
                 variable.starts_with("TERM=") || variable.starts_with("CAISSON"))
        << variable;
  }
}

TEST_F(RunOutcomes, TheCommandIsAgentInTheWorkspaceUnlessAsked) {
  EXPECT_EQ(RunScript({}, "id -u; id -un; id -G; pwd; umask; hostname").out,
            "1000\nagent\n1000\n/home/agent/workspace\n0022\nsandbox\n");
  EXPECT_EQ(RunScript({"--user", "root"}, "id -u; id -un; echo $HOME").out, "0\nroot\n/root\n");
}

TEST_F(RunOutcomes, OptionsBeatVariablesWhichBeatDefaults) {
  ProgramSpec by_variable = RunSpec({}, {"sleep", "1000"});
  by_variable.env = {"CAISSON_TIMEOUT=200ms"};
  EXPECT_EQ(RunProgram(by_variable, seconds(20)).status, 124);
  ProgramSpec by_option = RunSpec({"--timeout", "20s"}, {"sleep", "0.5"});
  by_option.env = {"CAISSON_TIMEOUT=200ms"};
  EXPECT_EQ(RunProgram(by_option).status, 0);
}

TEST_F(RunOutcomes, WhatStandsBehindTheDashesIsTheCommandsAlone) {
  EXPECT_EQ(RunCommand({}, {"echo", "--json", "--", "--timeout", "", "a b"}).out, "--json -- --timeout  a b\n");
}

}  // namespace
}  // namespace caisson::support
