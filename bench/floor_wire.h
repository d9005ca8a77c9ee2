#pragma once

#include <cstdint>
#include <type_traits>

namespace caisson::bench {

// What caisson-bench and bench-floor say to each other over one socket that keeps message boundaries. bench-floor is a
// program of its own, small and static, because the cost of fork and clone grows with the caller: measured from the
// engine's process the references would look dearer than they are, and the engine better.

enum class FloorRequest : std::uint8_t { kForkExec = 1, kFloor = 2 };

// One reply a request, and one before the first request that tells whether the set-up succeeded.
struct FloorReply {
  std::int64_t nanoseconds;
  std::uint32_t failed;  // 0 or 1
  char reason[244];      // zero terminated, of a failure
};

static_assert(std::is_trivially_copyable_v<FloorReply> && sizeof(FloorReply) == 256);

}  // namespace caisson::bench
