#pragma once

#include <chrono>

#include "caisson/base/result.h"

namespace caisson::bench {

// One way to run a command, measured once a round.
class Variant {
 public:
  Variant() = default;
  virtual ~Variant() = default;
  Variant(const Variant&) = delete;
  Variant& operator=(const Variant&) = delete;

  // The wall time of one complete repetition, cleaning up included. Any outcome but exit status 0 is an error.
  virtual Result<std::chrono::nanoseconds> RunOnce() = 0;
};

}  // namespace caisson::bench
