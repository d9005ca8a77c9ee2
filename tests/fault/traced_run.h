#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace caisson::fault {

// One system call of one process of a run: the `ordinal`-th call (from 0) of that number by that role. Runs differ in
// their timing, but the n-th `mount_setattr` of the launcher is the same one each time.
struct CallSite {
  std::string role;
  int number = 0;
  int ordinal = 0;

  auto operator<=>(const CallSite&) const = default;
};

// The call does not happen, and its caller sees it fail with `error`.
struct Injection {
  CallSite site;
  int error = 0;
};

struct TracedRun {
  int status = -1;  // of the program itself; 128+N when signal N ended it
  std::string out;
  std::string err;
  std::vector<CallSite> calls;         // in the order in which they were entered
  bool injected = false;               // false: the call never came
  bool hung = false;                   // something still lived at the deadline, and was killed
  std::vector<std::string> crashes;    // "launcher: signal 11"
  std::optional<std::string> posture;  // of the command at its exec, before its first instruction
  std::chrono::milliseconds duration{};
};

// Runs `argv`, a `caisson run`, under ptrace with all its descendants, until the last of them has ended. Followed call
// by call are the launcher and all that it starts, a command only up to its exec; the engine is not. Roles: launcher,
// keeper, namespaces (holds a slot's while they are opened), storage, storage-child, stand-in, guest, command.
// x86-64 only. Needs root; one thread; no other children. Source: ptrace(2).
TracedRun RunTraced(const std::vector<std::string>& argv, const std::optional<Injection>& injection);

}  // namespace caisson::fault
