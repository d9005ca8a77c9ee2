#include "caisson/service/command_seats.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

namespace caisson::service {
namespace {

TEST(CommandSeats, AreAsManyAsMayRun) {
  CommandSeats seats(2);
  auto first = seats.Take();
  auto second = seats.Take();
  EXPECT_TRUE(first && second);
  EXPECT_EQ(seats.taken(), 2U);
  EXPECT_FALSE(seats.Take());
  EXPECT_EQ(seats.taken(), 2U);
  first.reset();
  EXPECT_EQ(seats.taken(), 1U);
  const auto moved = std::move(second);
  EXPECT_EQ(seats.taken(), 1U);
  EXPECT_TRUE(seats.Take());
  EXPECT_EQ(seats.taken(), 1U) << "nobody kept it";
}

TEST(CommandSeats, HaveOneForWhatRunsAlready) {
  CommandSeats seats(1);
  const auto first = seats.TakeAnyway();
  auto second = seats.TakeAnyway();
  EXPECT_TRUE(first && second);
  EXPECT_EQ(seats.taken(), 2U);
  second.reset();
  EXPECT_FALSE(seats.Take());
  EXPECT_FALSE(CommandSeats(0).Take());
}

TEST(CommandSeats, AreNeverMoreThanMayBeWhoeverAsks) {
  constexpr std::uint32_t kMost = 3;
  CommandSeats seats(kMost);
  std::atomic<std::uint32_t> held = 0;
  std::atomic<bool> were_more = false;
  const auto ask = [&] {
    for (int i = 0; i < 5000; ++i) {
      const auto seat = seats.Take();
      if (!seat) continue;
      if (++held > kMost) were_more = true;
      --held;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(ask);
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(were_more);
  EXPECT_EQ(seats.taken(), 0U);
}

}  // namespace
}  // namespace caisson::service
