#include "caisson/backend/launcher_exchange.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace caisson::backend {
namespace {

using plan::LaunchReply;
using plan::LaunchRequest;
using plan::Verb;
using std::chrono::milliseconds;
using std::chrono::seconds;

// An engine's side, and a launcher's that the test plays.
class LauncherExchangeTest : public testing::Test {
 protected:
  void SetUp() override {
    auto ends = os::SocketPair(os::SocketKind::kPacket);
    ASSERT_TRUE(ends);
    exchange_ = std::make_unique<LauncherExchange>(std::move(ends->first));
    launcher_ = std::move(ends->second);
  }

  LaunchRequest Hear() const {
    LaunchRequest request;
    const auto message = os::ReceivePacket(launcher_.get(), sizeof request, Deadline::In(seconds(10)));
    EXPECT_TRUE(message);
    if (message) std::memcpy(&request, message->data.data(), sizeof request);
    return request;
  }
  void Say(std::uint64_t number, std::uint32_t slot, plan::Step failed = plan::Step::kNone) const {
    LaunchReply reply;
    reply.number = number;
    reply.slot = slot;
    reply.failed_step = failed;
    reply.error = failed == plan::Step::kNone ? 0 : EIO;
    EXPECT_TRUE(os::SendWithFds(launcher_.get(), {reinterpret_cast<const char*>(&reply), sizeof reply}, {}));
  }
  // In a thread of its own: asks, and says which slot the answer has; 0 for an error.
  std::thread Asks(std::uint32_t slot, std::uint32_t& answered, milliseconds patience = seconds(10)) {
    return std::thread([this, slot, &answered, patience] {
      LaunchRequest request{.verb = Verb::kRotateLeaf, .slot = slot};
      const auto answer = exchange_->Ask(request, {}, Deadline::In(patience));
      answered = answer ? answer->reply.slot : 0;
    });
  }

  std::unique_ptr<LauncherExchange> exchange_;
  os::Fd launcher_;
};

TEST_F(LauncherExchangeTest, AnswersInAnyOrderReachWhoAsked) {
  constexpr std::size_t kMany = 8;
  std::array<std::uint32_t, kMany> answered{};
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < kMany; ++i) threads.push_back(Asks(100 + i, answered[i]));
  std::vector<LaunchRequest> heard;
  for (std::size_t i = 0; i < kMany; ++i) heard.push_back(Hear());
  for (auto request = heard.rbegin(); request != heard.rend(); ++request) Say(request->number, request->slot);
  for (std::thread& thread : threads) thread.join();
  for (std::uint32_t i = 0; i < kMany; ++i) EXPECT_EQ(answered[i], 100 + i);
}

TEST_F(LauncherExchangeTest, OneThatWaitsInVainDoesNotKeepTheOthers) {
  std::uint32_t impatient = 7;
  std::uint32_t patient = 0;
  std::thread first = Asks(1, impatient, milliseconds(50));
  const std::uint64_t never = Hear().number;
  std::thread second = Asks(2, patient);
  const LaunchRequest other = Hear();
  first.join();
  EXPECT_EQ(impatient, 0U);
  Say(other.number, other.slot);
  second.join();
  EXPECT_EQ(patient, 2U);
  EXPECT_NE(never, other.number);
}

TEST_F(LauncherExchangeTest, ALateAnswerIsNobodyElses) {
  std::uint32_t first = 7;
  Asks(1, first, milliseconds(20)).join();
  EXPECT_EQ(first, 0U);
  const LaunchRequest late = Hear();
  std::uint32_t second = 0;
  std::thread thread = Asks(2, second);
  const LaunchRequest next = Hear();
  Say(late.number, 77);
  Say(next.number, 2);
  thread.join();
  EXPECT_EQ(second, 2U);
}

TEST_F(LauncherExchangeTest, ASandboxThatComesTooLateIsGivenBack) {
  LaunchRequest create;
  create.verb = Verb::kCreate;
  const auto none = exchange_->Ask(create, {}, Deadline::In(milliseconds(20)));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Code::kDeadlineExceeded);
  const std::uint64_t number = Hear().number;
  std::uint32_t answered = 0;
  std::thread thread = Asks(2, answered);
  const LaunchRequest next = Hear();
  Say(number, 42);
  Say(next.number, 2);
  const LaunchRequest given_back = Hear();
  thread.join();
  EXPECT_EQ(given_back.verb, Verb::kDestroy);
  EXPECT_EQ(given_back.slot, 42U);
}

TEST_F(LauncherExchangeTest, AFailureWithoutANumberIsEverybodys) {
  std::array<std::uint32_t, 2> answered = {7, 7};
  std::thread first = Asks(1, answered[0]);
  std::thread second = Asks(2, answered[1]);
  (void)Hear();
  (void)Hear();
  Say(0, 0, plan::Step::kSlot);
  first.join();
  second.join();
  EXPECT_EQ(answered[0], 0U);
  EXPECT_EQ(answered[1], 0U);
}

TEST_F(LauncherExchangeTest, SaysWhatTheLauncherSaidBeforeItEnded) {
  Say(0, 0, plan::Step::kMountProc);
  launcher_.Reset();
  const auto answer = exchange_->Ask({.verb = Verb::kRotateLeaf}, {}, Deadline::In(seconds(10)));
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message().find("proc"), std::string::npos) << answer.error().message();
}

TEST_F(LauncherExchangeTest, WhenTheLauncherEndsNobodyWaits) {
  std::array<std::uint32_t, 3> answered = {7, 7, 7};
  std::vector<std::thread> threads;
  for (std::uint32_t& one : answered) threads.push_back(Asks(1, one));
  for (std::size_t i = 0; i < answered.size(); ++i) (void)Hear();
  launcher_.Reset();
  for (std::thread& thread : threads) thread.join();
  for (const std::uint32_t one : answered) EXPECT_EQ(one, 0U);
  const auto after = exchange_->Ask({.verb = Verb::kRotateLeaf}, {}, Deadline::In(seconds(10)));
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().code(), Code::kUnavailable);
  EXPECT_FALSE(exchange_->Tell({.verb = Verb::kDestroy}, {}));
}

TEST_F(LauncherExchangeTest, AnAnswerThatIsNoneFailsWhoWaits) {
  std::uint32_t answered = 7;
  std::thread thread = Asks(1, answered);
  (void)Hear();
  ASSERT_TRUE(os::SendWithFds(launcher_.get(), "short", {}));
  thread.join();
  EXPECT_EQ(answered, 0U);
}

// The launcher answers before it hears on, and nobody who waits is left to read: a request that has no room reads.
TEST_F(LauncherExchangeTest, ALauncherThatWaitsToBeReadIsRead) {
  constexpr int kMany = 2000;
  std::thread launcher([this] {
    LaunchRequest request;
    do {
      request = Hear();
      Say(request.number == 0 ? 1'000'000 : request.number, request.slot);
    } while (request.verb != Verb::kRotateLeaf);
  });
  for (int i = 0; i < kMany; ++i) ASSERT_TRUE(exchange_->Tell({.verb = Verb::kUnpark}, {}));
  std::uint32_t answered = 0;
  Asks(5, answered).join();
  EXPECT_EQ(answered, 5U);
  launcher.join();
}

TEST_F(LauncherExchangeTest, ABusyLauncherIsNotWaitedForLongerThanToldTo) {
  // Until it takes no more.
  const std::string_view packet = "x";
  while (true) {
    const auto sent = os::TrySendPacket(exchange_->connection(), packet, {});
    ASSERT_TRUE(sent);
    if (!*sent) break;
  }
  const auto answer = exchange_->Ask({.verb = Verb::kExamineLeaf}, {}, Deadline::In(milliseconds(25)));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), Code::kDeadlineExceeded);
}

}  // namespace
}  // namespace caisson::backend
