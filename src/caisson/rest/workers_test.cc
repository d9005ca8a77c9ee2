#include "caisson/rest/workers.h"

#include <gtest/gtest.h>

#include <future>

namespace caisson::rest {
namespace {

// Calls that run until they are let go.
class Gate {
 public:
  std::function<void()> Wait() {
    return [this, opened = opened_] {
      begun_.set_value();
      opened.wait();
    };
  }
  void AwaitBegun() { begun_.get_future().wait(); }
  void Open() { open_.set_value(); }

 private:
  std::promise<void> begun_;
  std::promise<void> open_;
  std::shared_future<void> opened_ = open_.get_future().share();
};

bool Runs(Workers& workers, const std::string& key) {
  std::promise<void> done;
  if (!workers.Submit(key, [&] { done.set_value(); })) return false;
  return done.get_future().wait_for(std::chrono::seconds(30)) == std::future_status::ready;
}

TEST(Workers, OneStuckKeyLeavesRoomForOthers) {
  Workers workers({.threads = 3, .waiting = 100, .threads_of_one = 2, .waiting_of_one = 3});
  Gate first;
  Gate second;
  ASSERT_TRUE(workers.Submit("stuck", first.Wait()));
  ASSERT_TRUE(workers.Submit("stuck", second.Wait()));
  first.AwaitBegun();
  second.AwaitBegun();
  int later = 0;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(workers.Submit("stuck", [&] { ++later; }));
  const auto refused = workers.Submit("stuck", [] {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kUnavailable);
  EXPECT_TRUE(refused.error().retryable());
  EXPECT_TRUE(Runs(workers, "healthy"));
  EXPECT_TRUE(Runs(workers, ""));
  EXPECT_EQ(later, 0);
  first.Open();
  second.Open();
}

TEST(Workers, RefusesAtOnceWhenTheQueueIsFull) {
  Workers workers({.threads = 1, .waiting = 2, .threads_of_one = 1, .waiting_of_one = 2});
  Gate gate;
  ASSERT_TRUE(workers.Submit("a", gate.Wait()));
  gate.AwaitBegun();
  ASSERT_TRUE(workers.Submit("b", [] {}));
  const auto waiting = workers.Submit("c", [] {});
  ASSERT_TRUE(waiting);
  EXPECT_FALSE(workers.Submit("d", [] {}));
  EXPECT_TRUE(workers.Withdraw(*waiting));
  EXPECT_FALSE(workers.Withdraw(*waiting));
  std::promise<void> done;
  EXPECT_TRUE(workers.Submit("d", [&] { done.set_value(); }));
  gate.Open();
  done.get_future().wait();
}

}  // namespace
}  // namespace caisson::rest
