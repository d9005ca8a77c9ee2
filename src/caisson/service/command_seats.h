#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace caisson::service {

// How many commands may run at the same time, and do. Thread-safe; outlives its seats.
class CommandSeats {
 public:
  explicit CommandSeats(std::uint32_t most) : most_(most) {}
  CommandSeats(const CommandSeats&) = delete;
  CommandSeats& operator=(const CommandSeats&) = delete;
  ~CommandSeats() = default;

  struct GiveBack {
    void operator()(CommandSeats* seats) const { --seats->taken_; }
  };
  // A command's place, until this is destroyed.
  using Seat = std::unique_ptr<CommandSeats, GiveBack>;

  // nullptr when as many run as may.
  Seat Take() {
    std::uint32_t taken = taken_;
    while (taken < most_) {
      if (taken_.compare_exchange_weak(taken, taken + 1)) return Seat(this);
    }
    return nullptr;
  }
  // Of a command that runs already, whether there is a place or not.
  Seat TakeAnyway() {
    ++taken_;
    return Seat(this);
  }

  std::uint32_t taken() const { return taken_; }

 private:
  std::uint32_t most_;
  std::atomic<std::uint32_t> taken_ = 0;
};

}  // namespace caisson::service
