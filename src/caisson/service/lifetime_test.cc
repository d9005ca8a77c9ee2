#include "caisson/service/lifetime.h"

#include <gtest/gtest.h>

namespace caisson::service {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

Instant At(seconds time, state::UnixMs time_of_day) { return {steady_clock::time_point(time), time_of_day}; }

// What the next daemon reads.
state::SandboxRecord After(const state::SandboxUpdate& update) {
  state::SandboxRecord record{.id = SandboxId::Random()};
  record.used_lifetime = update.used_lifetime.value_or(seconds(-1));
  record.running_since = update.running_since.value_or(seconds(-1));
  record.expires_at = update.expires_at.value_or(-1);
  return record;
}

TEST(Lifetime, GoesOnWhileTheClockRuns) {
  const auto record = After(LifetimeUpdate(seconds(10), seconds(60), LifetimeClock::kRuns, At(seconds(100), 5'000)));
  EXPECT_EQ(UsedLifetime(record, steady_clock::time_point(seconds(100))), seconds(10));
  EXPECT_EQ(UsedLifetime(record, steady_clock::time_point(seconds(130))), seconds(40));
  EXPECT_EQ(record.expires_at, 55'000);
}

TEST(Lifetime, StandsWithTheClock) {
  const auto record = After(LifetimeUpdate(seconds(10), seconds(60), LifetimeClock::kStands, At(seconds(100), 5'000)));
  EXPECT_EQ(UsedLifetime(record, steady_clock::time_point(seconds(130))), seconds(10));
  EXPECT_FALSE(record.expires_at);
}

TEST(Lifetime, DoesNotFollowTheTimeOfDay) {
  constexpr state::UnixMs kDay = 86'400'000;
  const auto before = After(LifetimeUpdate(seconds(0), seconds(60), LifetimeClock::kRuns, At(seconds(100), 5'000)));
  const auto used = UsedLifetime(before, steady_clock::time_point(seconds(101)));
  const auto after = After(LifetimeUpdate(used, seconds(60), LifetimeClock::kRuns, At(seconds(101), kDay)));
  EXPECT_EQ(UsedLifetime(after, steady_clock::time_point(seconds(102))), seconds(2));
  EXPECT_EQ(after.expires_at, kDay + 59'000) << "people read when it ends on the clock as it is now";
}

TEST(Lifetime, WithoutAnEndHasNoTimeOfDay) {
  const auto record = After(LifetimeUpdate(milliseconds(7), {}, LifetimeClock::kRuns, At(seconds(100), 5'000)));
  EXPECT_FALSE(record.expires_at);
  EXPECT_EQ(UsedLifetime(record, steady_clock::time_point(seconds(101))), milliseconds(1'007));
}

}  // namespace
}  // namespace caisson::service
