#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "caisson/base/id.h"
#include "caisson/state/page.h"
#include "caisson/state/unix_ms.h"

namespace caisson::state {

enum class CommandState : std::uint8_t {
  kStarting,  // it has its step, and may or may not have a process
  kRunning,
  kEnded,
};

// "starting", "running", "ended".
std::string_view CommandStateName(CommandState state);
std::optional<CommandState> ParseCommandState(std::string_view name);

// What the node remembers of a command. The opaque parts are those of the layers above.
struct CommandRecord {
  std::string id;  // 1 to 64 bytes
  SandboxId sandbox;
  std::uint64_t step = 0;  // its number in the sandbox, from 1
  CommandState state = CommandState::kStarting;
  std::string spec = {};    // opaque
  std::string handle = {};  // opaque: how to find its processes again; empty while it starts
  UnixMs started_at = 0;
  std::optional<UnixMs> ended_at = {};
  std::chrono::milliseconds timeout{};
  std::string summary = {};  // opaque: the little of its result that a list shows; empty until it has ended
  std::optional<std::string> result = {};  // opaque; may be large
  std::uint64_t stdout_bytes = 0;
  std::uint64_t stderr_bytes = 0;
};

// The end of a command.
struct CommandEnd {
  std::string id;
  UnixMs at = 0;
  std::string summary = {};  // opaque
  std::string result = {};   // opaque
  std::uint64_t stdout_bytes = 0;
  std::uint64_t stderr_bytes = 0;
  std::uint64_t spool_bytes = 0;  // what its output takes on the disk
};

// The output of a command that has ended, as long as it takes room.
struct SpoolRecord {
  std::string command;
  std::uint64_t bytes = 0;
};

// Results may be large; a list of commands rarely wants them.
enum class Results : std::uint8_t { kLeaveOut, kRead };

// Which commands of a sandbox a list holds, in the order of their steps.
struct CommandFilter {
  std::uint64_t after_step = 0;
  std::uint32_t limit = 1000;  // 1 to kMaxPage
  Results results = Results::kLeaveOut;
};

}  // namespace caisson::state
