#pragma once

#include "caisson/cli/command_line.h"

namespace caisson::cli {

// The commands, one file each. They print what they have to say and return the exit status of the program.

// The command's own status, or one of those that `caisson run --help` lists; 125 when nothing ran.
int RunCommand(const CommandLine& line);
// Of sandboxes that stay. They ask the daemon, and start one when none runs; 3 when it could not be done, 125 of
// exec and attach.
int CreateCommand(const CommandLine& line, const Environment& environment);
int ExecCommand(const CommandLine& line, const Environment& environment);
// Prints a step's result, and returns 0 whatever became of it; 2 for a wrong input, 3 when there is none.
int ToolCommand(const CommandLine& line, const Environment& environment);
int ToolsCommand(const CommandLine& line);
int ListCommand(const CommandLine& line, const Environment& environment);
int InspectCommand(const CommandLine& line, const Environment& environment);
int LogsCommand(const CommandLine& line, const Environment& environment);
int AttachCommand(const CommandLine& line, const Environment& environment);
int ChangeStateCommand(const CommandLine& line, const Environment& environment);  // pause, resume, stop
int CopyCommand(const CommandLine& line, const Environment& environment);
// Becomes the program caisson-daemon; returns only when that fails.
int ServeCommand(const CommandLine& line);
// Explains a template: 1 when it has a mistake, 2 when it was told something unknown, 3 when it cannot be read.
int TemplateCommand(const CommandLine& line);
// Checks, explains, shows or tries a policy: 1 for a policy with a mistake, a call that is not allowed, or a command
// that is decided otherwise than expected.
int PolicyCommand(const CommandLine& line);
// Of sandboxes that stay, when a daemon runs, and of those that were kept.
int DiffCommand(const CommandLine& line, const Environment& environment);
int DeleteCommand(const CommandLine& line, const Environment& environment);
// 0 when this host can make sandboxes, 1 when not, 3 when the report could not be written.
int DoctorCommand(const CommandLine& line, const Environment& environment);
// What the data folder holds. 3 when that cannot be said.
int DfCommand(const CommandLine& line);
// Removes left-overs. 3 when one could not be removed.
int PruneCommand(const CommandLine& line);
// Removes everything, with --yes; without, says what that would be and returns 1. 3 when something lives or stays.
int PurgeCommand(const CommandLine& line);
int VersionCommand(const CommandLine& line);
int HelpCommand(const CommandLine& line);
// Bare `caisson`: the state of things and what to do next.
int OverviewCommand();

// Exit statuses of Caisson itself.
inline constexpr int kSuccess = 0;
inline constexpr int kNegativeAnswer = 1;
inline constexpr int kUsageError = 2;
inline constexpr int kFailed = 3;
inline constexpr int kRunFailed = 125;  // of `run` and `exec`, for usage errors too

// Writes to stdout; kSuccess, or prints the error and returns `failed`.
int PrintOrFail(const std::string& text, int success, int failed);

}  // namespace caisson::cli
