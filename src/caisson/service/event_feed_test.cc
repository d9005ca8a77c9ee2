#include "caisson/service/event_feed.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "caisson/state/data_folder.h"

namespace caisson::service {
namespace {

class EventFeedTest : public testing::Test {
 protected:
  void SetUp() override {
    database_ = folder_.Open();
    ASSERT_NE(database_, nullptr);
    feed_.emplace(*database_);
  }
  // An event that nobody has been told of.
  void Append(const std::string& type = "t") { ASSERT_TRUE(database_->AppendEvent(state::SomeEvent(type))); }
  void Record(const std::string& type = "t") {
    Append(type);
    feed_->Tell();
  }

  state::DataFolder folder_;
  std::unique_ptr<state::Database> database_;
  std::optional<EventFeed> feed_;
};

// The numbers of all there are now.
std::vector<std::uint64_t> NumbersOf(EventFollower& follower) {
  std::vector<std::uint64_t> numbers;
  while (true) {
    const auto event = follower.Next();
    EXPECT_TRUE(event);
    if (!event || !*event) break;
    numbers.push_back((*event)->number);
  }
  return numbers;
}

TEST_F(EventFeedTest, IsFollowedFromTheBeginning) {
  const state::EventRecord record{
      .time = 5, .type = "sandbox.running", .sandbox = "sb", .command = "cm", .caller = "me", .detail = "why"};
  ASSERT_TRUE(database_->AppendEvent(record));
  Append("second");
  const auto follower = feed_->Follow(0);
  const auto next = follower->Next();
  ASSERT_TRUE(next);
  const std::optional<Event>& event = *next;
  ASSERT_TRUE(event);
  EXPECT_EQ(event->number, 1U);
  EXPECT_EQ(event->time, 5);
  EXPECT_EQ(event->type, "sandbox.running");
  EXPECT_EQ(event->sandbox, "sb");
  EXPECT_EQ(event->command, "cm");
  EXPECT_EQ(event->caller, "me");
  EXPECT_EQ(event->detail, "why");
  EXPECT_EQ(NumbersOf(*follower), std::vector<std::uint64_t>{2});
  Append();
  EXPECT_EQ(NumbersOf(*follower), std::vector<std::uint64_t>{3});
}

TEST_F(EventFeedTest, IsFollowedFromAnywhere) {
  constexpr std::uint64_t kEvents = 250;  // more than are fetched at once
  for (std::uint64_t i = 0; i < kEvents; ++i) Append();
  for (const std::uint64_t after : {std::uint64_t{0}, std::uint64_t{99}, std::uint64_t{249}, kEvents, kEvents + 7}) {
    const auto follower = feed_->Follow(after);
    const auto numbers = NumbersOf(*follower);
    ASSERT_EQ(numbers.size(), kEvents - std::min(after, kEvents));
    for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(numbers[i], after + i + 1);
  }
}

TEST_F(EventFeedTest, AwaitCallsAtOnceForWhatIsThere) {
  Append();
  const auto follower = feed_->Follow(0);
  int calls = 0;
  follower->Await([&] { ++calls; });
  EXPECT_EQ(calls, 1) << "though nobody told";
  NumbersOf(*follower);
  follower->Await([&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST_F(EventFeedTest, AwaitCallsAtOnceForWhatWasFetched) {
  Append();
  Append();
  const auto follower = feed_->Follow(0);
  ASSERT_TRUE(*follower->Next());
  int calls = 0;
  follower->Await([&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST_F(EventFeedTest, AwaitCallsOnceForWhatComes) {
  const auto follower = feed_->Follow(0);
  const auto other = feed_->Follow(0);
  int calls = 0;
  int others = 0;
  follower->Await([&] { ++calls; });
  other->Await([&] { ++others; });
  EXPECT_EQ(calls + others, 0);
  Record();
  Record();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(others, 1);
  EXPECT_EQ(NumbersOf(*follower).size(), 2U);
  follower->Await([&] { ++calls; });
  Record();
  EXPECT_EQ(calls, 2);
}

TEST_F(EventFeedTest, ASecondAwaitReplacesTheFirst) {
  const auto follower = feed_->Follow(0);
  int first = 0;
  int second = 0;
  follower->Await([&] { ++first; });
  follower->Await([&] { ++second; });
  Record();
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
}

TEST_F(EventFeedTest, NobodyIsCalledAfterCancel) {
  const auto follower = feed_->Follow(0);
  auto gone = feed_->Follow(0);
  int calls = 0;
  follower->Await([&] { ++calls; });
  gone->Await([&] { ++calls; });
  follower->Cancel();
  gone.reset();
  Record();
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(NumbersOf(*follower).size(), 1U) << "it can still be read";
}

// Events that are there and, for as long as the test says so, cannot be read.
class UnreadableEvents : public testing::Test {
 protected:
  bool is_broken_ = true;
  int reads_ = 0;
  EventFeed feed_{EventFeed::Source{
      .after = [this](std::uint64_t after, std::uint32_t /*limit*/) -> Result<std::vector<state::EventRecord>> {
        ++reads_;
        if (is_broken_) return Fail(Error(Code::kInternal, "damage"));
        std::vector<state::EventRecord> events;
        if (after == 0) events.push_back({.number = 1, .time = 1, .type = "t"});
        return events;
      },
      .newest = []() -> Result<std::uint64_t> { return 1; }}};
};

TEST_F(UnreadableEvents, AreTriedAgainNowAndThenUntilTheFollowerIsTold) {
  const auto follower = feed_.Follow(0);
  for (int attempt = 1; attempt < EventFeed::kMostFailures; ++attempt) {
    const auto none = follower->Next();
    ASSERT_TRUE(none);
    EXPECT_FALSE(*none);
    int calls = 0;
    follower->Await([&] { ++calls; });
    EXPECT_EQ(calls, 0) << "not at once, which would be for ever";
    feed_.TellAgain();
    EXPECT_EQ(calls, 1);
    feed_.TellAgain();
    EXPECT_EQ(calls, 1);
  }
  const auto failed = follower->Next();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), Code::kInternal);
  EXPECT_EQ(reads_, EventFeed::kMostFailures);
}

TEST_F(UnreadableEvents, ComeOnceTheyCanBeRead) {
  const auto follower = feed_.Follow(0);
  for (int round = 0; round < 3; ++round) {
    is_broken_ = true;
    for (int attempt = 1; attempt < EventFeed::kMostFailures; ++attempt) ASSERT_TRUE(follower->Next());
    is_broken_ = false;
    EXPECT_EQ(NumbersOf(*follower).size(), round == 0 ? 1U : 0U) << "and what failed before is forgotten";
  }
  int calls = 0;
  follower->Await([&] { ++calls; });
  feed_.TellAgain();
  EXPECT_EQ(calls, 0) << "who can read hears of events alone";
}

// Whoever waits for the call misses no event, whenever that is recorded.
TEST_F(EventFeedTest, NothingIsMissedByWhoWaits) {
  constexpr std::uint64_t kEvents = 150;
  std::thread recording([&] {
    for (std::uint64_t i = 0; i < kEvents; ++i) Record();
  });
  const auto follower = feed_->Follow(0);
  std::uint64_t seen = 0;
  while (seen < kEvents) {
    std::atomic<bool> is_ready = false;
    follower->Await([&] {
      is_ready = true;
      is_ready.notify_all();
    });
    is_ready.wait(false);
    follower->Cancel();
    for (const std::uint64_t number : NumbersOf(*follower)) EXPECT_EQ(number, ++seen);
  }
  recording.join();
}

}  // namespace
}  // namespace caisson::service
