#pragma once

#include <chrono>
#include <optional>

#include "caisson/state/sandbox_record.h"

namespace caisson::service {

// How long a sandbox has run, pauses excluded, as its record carries it from one daemon to the next. It is measured on
// CLOCK_MONOTONIC, which nobody sets; the time of day says only what people read. Pure.

struct Instant {
  std::chrono::steady_clock::time_point time;
  state::UnixMs time_of_day = 0;
};

enum class LifetimeClock : unsigned char { kStands, kRuns };

// Up to `now`, whatever daemon had it.
std::chrono::milliseconds UsedLifetime(const state::SandboxRecord& record, std::chrono::steady_clock::time_point now);

// What the record of a sandbox says of its lifetime when `used` of it is over `now`. `most`: after how long it ends.
state::SandboxUpdate LifetimeUpdate(std::chrono::milliseconds used, std::optional<std::chrono::milliseconds> most,
                                    LifetimeClock clock, const Instant& now);

}  // namespace caisson::service
