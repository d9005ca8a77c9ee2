#pragma once

#include <cstddef>
#include <cstdint>

#include "caisson/base/units.h"

namespace caisson::plan {

// What one sandbox may use. The kernel holds every one of these; the defaults are stated here and nowhere else.
struct Limits {
  MilliCpus cpus{2000};
  Bytes memory = GiB(2);  // without swap
  Bytes disk = GiB(5);    // of the writable layer
  std::uint32_t pids = 256;
};

// Below these nothing works, above this the kernel counts no more (PID_MAX_LIMIT).
inline constexpr Bytes kLeastMemory = MiB(4);
inline constexpr Bytes kLeastDisk = MiB(1);
inline constexpr std::uint32_t kMostPids = 4'194'304;

// Of a command's environment.
inline constexpr std::size_t kMostVariables = 10'000;
inline constexpr std::size_t kLongestVariableName = 255;
inline constexpr std::size_t kLongestArgument = (128U << 10U) - 1;  // execve(2): MAX_ARG_STRLEN with its zero

// The agent's user in every image: uid, gid and home.
inline constexpr std::uint32_t kAgentId = 1000;
inline constexpr const char* kAgentHome = "/home/agent";
inline constexpr const char* kAgentWorkspace = "/home/agent/workspace";

}  // namespace caisson::plan
