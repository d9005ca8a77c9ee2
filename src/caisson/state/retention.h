#pragma once

#include <cstdint>

#include "caisson/state/unix_ms.h"

namespace caisson::state {

// Which records of things that are over are forgotten: those that ended before `ended_before`, and all but the newest
// `keep_newest`. One call forgets at most `at_most`, oldest first, so that nobody waits long for it.
struct Retention {
  UnixMs ended_before = 0;
  std::uint64_t keep_newest = 0;
  std::uint32_t at_most = 500;
};

}  // namespace caisson::state
