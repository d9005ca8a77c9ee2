#pragma once

#include "caisson/cli/command_line.h"

namespace caisson::cli {

// The commands, one file each. They print what they have to say and return the exit status of the program.

// The command's own status, or one of those that `caisson run --help` lists; 125 when nothing ran.
int RunCommand(const CommandLine& line);
// 0 when this host can make sandboxes, 1 when not, 3 when the report could not be written.
int DoctorCommand(const CommandLine& line, const Environment& environment);
int VersionCommand(const CommandLine& line);
int HelpCommand(const CommandLine& line);
// Bare `caisson`: the state of things and what to do next.
int OverviewCommand();

// Exit statuses of Caisson itself.
inline constexpr int kSuccess = 0;
inline constexpr int kNegativeAnswer = 1;
inline constexpr int kUsageError = 2;
inline constexpr int kFailed = 3;
inline constexpr int kRunFailed = 125;  // of `run`, for usage errors too

// Writes to stdout; kSuccess, or prints the error and returns `failed`.
int PrintOrFail(const std::string& text, int success, int failed);

}  // namespace caisson::cli
