#pragma once

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

// The agent's user in every image: uid, gid and home.
inline constexpr std::uint32_t kAgentId = 1000;
inline constexpr const char* kAgentHome = "/home/agent";
inline constexpr const char* kAgentWorkspace = "/home/agent/workspace";

}  // namespace caisson::plan
