#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/base/units.h"
#include "caisson/os/fd.h"
#include "caisson/plan/change.h"
#include "caisson/plan/kernel_plan.h"
#include "caisson/plan/limits.h"
#include "caisson/sandbox/outcome.h"

namespace caisson::sandbox {

enum class User { kAgent, kRoot };

struct TerminalSize {
  std::uint16_t rows = 24;
  std::uint16_t columns = 80;
};

// What becomes of output past `kept_output`.
enum class Spool { kDiscard, kKeep };

// Whether a command's result says which files it changed.
enum class ReportChanges { kNo, kYes };

struct CommandSpec {
  std::vector<std::string> argv;  // argv[0] is looked up in the command's PATH when it has no slash
  std::vector<std::pair<std::string, std::string>> env;  // added to the fixed environment, may replace its entries
  std::string cwd = plan::kAgentWorkspace;
  User user = User::kAgent;
  std::chrono::milliseconds timeout{30'000};
  Bytes kept_output = MiB(1);  // per stream, in memory
  Spool spool = Spool::kDiscard;
  ReportChanges report_changes = ReportChanges::kYes;
  std::optional<TerminalSize> terminal;  // set: one pseudo terminal instead of three pipes
  // What binds it in the kernel beside what binds every command; absent: nothing. Shared by the commands of a sandbox
  // under one policy: an equal one at another address is sent again.
  std::shared_ptr<const plan::KernelPlan> kernel_plan;
};

// Host descriptors a caller connects to the command while it waits. Borrowed; -1: not connected.
// An unconnected stdin reads as end of file.
struct Attachment {
  int stdin_fd = -1;
  int stdout_fd = -1;  // output is copied here as it comes, and the command waits when this is full
  int stderr_fd = -1;
  // Becomes readable (a signalfd or eventfd) when the caller wants `on_interrupt` called.
  int interrupt_fd = -1;
  enum class Interrupt { kContinue, kCancel };
  // Called for each readiness of interrupt_fd; must read it empty. kCancel kills the command: outcome Cancelled.
  Interrupt (*on_interrupt)(void* context, class Command& command) = nullptr;
  void* context = nullptr;
};

// The first bytes of a stream, its last ones, how many there were, and where the rest is.
struct CapturedOutput {
  std::string kept;
  std::string tail;  // of a truncated stream: its last bytes past `kept`, at most kTailLimit
  std::uint64_t total_bytes = 0;
  bool truncated = false;  // total_bytes is more than kept holds
  os::Fd spool;            // valid with Spool::kKeep and truncated: the stream from its start, at most kSpoolLimit
};

inline constexpr Bytes kTailLimit = KiB(64);
inline constexpr Bytes kSpoolLimit = MiB(256);

// Why a policy let a command run or not.
struct DecisionNote {
  std::string effect;            // "allow", "ask" or "deny"
  std::string rule;              // its name; "default", or a built-in one
  std::string source;            // "policy.toml:14", "preset strict", "built in"
  std::string reason;            // in words; may be empty
  std::string alternative = {};  // the way that is open instead, in words; may be empty
};

struct CommandResult {
  Outcome outcome;
  std::optional<DecisionNote> decision;  // absent: no policy was asked
  CapturedOutput out;                    // with a terminal: everything
  CapturedOutput err;
  std::chrono::nanoseconds duration{};
  std::chrono::nanoseconds cpu{};                  // of the whole process tree
  std::optional<std::uint64_t> memory_peak_bytes;  // absent where the kernel cannot tell
  bool killed_for_memory = false;                  // the kernel killed a process of the tree at the memory limit
  bool hit_process_limit = false;                  // a process or thread was refused at the limit of processes
  bool waits_for_input = false;  // with TimedOut: a process waited for the command's input, which had not ended
  // What is different in the sandbox's own files since the command started, by whomever: processes that earlier
  // commands left, too. Not in it: a workspace that is shown read-write, /dev/shm, and what is written through a
  // mapping that still exists. Absent when it was not asked for or nobody can tell.
  std::optional<plan::ChangeList> files_changed;
  bool disk_full = false;  // it failed, and at its end there was no room in the writable layer; with files_changed only
};

// Whether the end of a command was written down for good.
enum class Recorded : std::uint8_t { kNo, kYes };
// Told how a command of a sandbox that stays has ended.
using OnCommandEnd = std::function<Recorded(Result<CommandResult>)>;

// One process tree started in a sandbox. Move-only. Destroying it before it ended kills the tree and waits until it is
// gone, at most 1 s.
class Command {
 public:
  struct State;
  explicit Command(std::unique_ptr<State> state);
  Command(Command&&) noexcept;
  Command& operator=(Command&&) noexcept;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  ~Command();

  // Waits until the command's own process ended (not until its output closed), its timeout passed or the caller
  // cancelled; whatever is left in its pipes then is read, nothing later. After a timeout or a cancel no process of
  // its tree lives. Returns at most 2 s after the timeout. Call once.
  // Errors: kUnavailable when the sandbox ended under it.
  Result<CommandResult> Wait(const Attachment& attachment = {});

  // Sends a signal to the command's process group. Callable from on_interrupt and other threads.
  Status Signal(int signal);
  Status Resize(TerminalSize size);

 private:
  std::unique_ptr<State> state_;
};

// The environment every command gets before its own `env`: PATH, HOME, USER, LANG, TZ and the like.
std::vector<std::pair<std::string, std::string>> FixedEnvironment(User user, bool has_terminal);

}  // namespace caisson::sandbox
