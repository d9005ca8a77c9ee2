#pragma once

#include <algorithm>
#include <chrono>
#include <limits>

namespace caisson {

// A point on the monotonic clock by which something must have ended.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Deadline(Clock::time_point at) : at_(at) {}
  static Deadline In(std::chrono::milliseconds span) { return Deadline(Clock::now() + span); }

  bool Passed() const { return Clock::now() >= at_; }
  Clock::time_point at() const { return at_; }

  // Milliseconds left, rounded up, never negative: what poll(2) takes.
  int PollTimeout() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(at_ - Clock::now()).count();
    return static_cast<int>(std::clamp<decltype(left)>(left, 0, std::numeric_limits<int>::max()));
  }

 private:
  Clock::time_point at_;
};

}  // namespace caisson
