#include "caisson/os/poll.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>

namespace caisson::os {
namespace {

class PollTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(pipe(ends_.data()), 0); }
  void TearDown() override {
    close(ends_[0]);
    close(ends_[1]);
  }

  std::array<int, 2> ends_{};
};

int writing_end = -1;
int signals_seen = 0;

TEST_F(PollTest, WaitsOnAfterASignal) {
  writing_end = ends_[1];
  struct sigaction action{};
  action.sa_handler = [](int) {
    if (++signals_seen == 3 && write(writing_end, "x", 1) != 1) _exit(1);
  };
  sigaction(SIGALRM, &action, nullptr);
  const itimerval tick{{0, 10'000}, {0, 10'000}};
  setitimer(ITIMER_REAL, &tick, nullptr);
  std::array<pollfd, 1> entries{{{ends_[0], POLLIN, 0}}};
  EXPECT_TRUE(Poll(entries, -1));
  const itimerval off{};
  setitimer(ITIMER_REAL, &off, nullptr);
  EXPECT_EQ(entries[0].revents, POLLIN);
  EXPECT_GE(signals_seen, 3);
}

TEST_F(PollTest, OnlyLooksWithZero) {
  std::array<pollfd, 1> entries{{{ends_[0], POLLIN, 0}}};
  EXPECT_TRUE(Poll(entries, 0));
  EXPECT_EQ(entries[0].revents, 0);
}

TEST_F(PollTest, PassesOverNegativeDescriptorsAndTellsOfAHangUp) {
  close(ends_[1]);
  std::array<pollfd, 2> entries{{{-1, POLLIN, 0}, {ends_[0], 0, 0}}};
  EXPECT_TRUE(Poll(entries, -1));
  EXPECT_EQ(entries[0].revents, 0);
  EXPECT_EQ(entries[1].revents, POLLHUP);
  ends_[1] = dup(ends_[0]);
}

}  // namespace
}  // namespace caisson::os
