#pragma once

#include <cstdint>

namespace caisson::state {

// The most records that one call lists.
inline constexpr std::uint32_t kMaxPage = 1000;

}  // namespace caisson::state
