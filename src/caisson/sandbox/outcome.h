#pragma once

#include <string>
#include <string_view>
#include <variant>

namespace caisson::sandbox {

// What happened to a command, decided once when it has ended.
struct Exited {
  int code = 0;
};
struct Signaled {
  int signal = 0;
};
struct TimedOut {};
struct OutOfMemory {};  // the kernel killed a process of the command at the memory limit
struct Cancelled {};
// The program never ran: nothing of the command exists.
struct FailedToStart {
  enum class Reason { kNotFound, kNotExecutable, kOther };
  Reason reason = Reason::kOther;
  int errno_value = 0;
  std::string step;  // the named step that failed, for example "exec" or "chdir"
};

// The policy refuses it, or wants somebody to be asked first (CommandResult::decision): nothing of it exists either.
struct Denied {};
struct NeedsApproval {
  std::string id;  // under which it can be settled
};

// Of a tool's step that ran no program, or let one go on in the background.
struct Completed {};

using Outcome =
    std::variant<Exited, Signaled, TimedOut, OutOfMemory, Cancelled, FailedToStart, Denied, NeedsApproval, Completed>;

// The stable name in results: "exited", "signaled", "timed_out", "out_of_memory", "cancelled", "failed_to_start",
// "denied", "needs_approval", "completed".
std::string_view OutcomeName(const Outcome& outcome);

// The exit status of `caisson run` and `caisson exec` for this outcome: the command's own; 128+N for a signal;
// 124 timed out; 137 out of memory; 130 cancelled; 127 not found; 126 not executable or not allowed;
// 125 otherwise.
int ExitStatus(const Outcome& outcome);

}  // namespace caisson::sandbox
