#pragma once

#include <cstdint>

namespace caisson::state {

// A time of day: UTC, in milliseconds since 1970.
using UnixMs = std::int64_t;

}  // namespace caisson::state
