#pragma once

#include <array>

#include "caisson/base/deadline.h"

namespace caisson::sandbox {

// How long output is still taken after a command's own process has ended, while something it left holds its streams:
// what it wrote may be on its way through a child that copies it, as in `exec > >(tee log)`. A stream that ends is not
// waited for. A process that stays and is silent costs the quiet time, one that goes on writing the whole.
class LastOutput {
 public:
  static constexpr std::chrono::milliseconds kQuiet{200};
  static constexpr std::chrono::milliseconds kWhole{500};

  // Whether one of these can be read, or has ended. False without waiting when both are negative; false when it was
  // quiet for too long, or the whole time is over.
  bool Await(const std::array<int, 2>& sources) const;

 private:
  Deadline whole_ = Deadline::In(kWhole);
};

}  // namespace caisson::sandbox
