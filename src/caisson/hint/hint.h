#pragma once

#include <string>
#include <vector>

#include "caisson/plan/launch_plan.h"
#include "caisson/plan/limits.h"
#include "caisson/sandbox/command.h"

namespace caisson::hint {

// What went wrong with a command, and one thing to do about it. The code is stable; the texts are for people and agents
// and name the thing: the program, the path, the limit and its option.
struct Hint {
  std::string code;
  std::string message;
  std::string suggestion;
};

enum class Network { kNone, kReachable };

// How the caller gets the command's output: only what was kept of it, in a result, or all of it as it came.
enum class Delivery { kKept, kPassedThrough };

// Everything that the rules judge by. Borrowed for the call.
struct Evidence {
  const sandbox::CommandSpec& command;
  const sandbox::CommandResult& result;
  plan::Limits limits;
  plan::Storage storage = plan::Storage::kTmpfs;
  Network network = Network::kNone;
  Delivery delivery = Delivery::kKept;
};

// How much of the beginning and of the end of a stream the rules look at.
inline constexpr Bytes kLookedAt = KiB(64);

// The hints for one command, the most useful first; none when nothing speaks of trouble. What a sandbox wrote appears
// in them only as a name of at most 200 bytes, with control characters escaped.
std::vector<Hint> FindHints(const Evidence& evidence);

}  // namespace caisson::hint
