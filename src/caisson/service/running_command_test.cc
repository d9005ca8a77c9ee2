#include "caisson/service/running_command.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace caisson::service {
namespace {

using std::chrono::milliseconds;

sandbox::CommandSpec SpecOf(std::string program) {
  sandbox::CommandSpec spec;
  spec.argv = {std::move(program)};
  return spec;
}

TEST(RunningCommand, KnowsWhatItIs) {
  const RunningCommand command("cm_a", 7, SpecOf("id"), {});
  EXPECT_EQ(command.id(), "cm_a");
  EXPECT_EQ(command.step(), 7U);
  EXPECT_EQ(command.spec().argv.front(), "id");
  EXPECT_EQ(command.command(), nullptr) << "until it has started";
  EXPECT_FALSE(command.has_ended());
  EXPECT_FALSE(command.AwaitEnd(milliseconds(0)));
}

TEST(RunningCommand, CallsEveryoneWhoWaitsOnce) {
  RunningCommand command("cm_a", 1, {}, {});
  int first = 0;
  int second = 0;
  command.OnEnd([&] { ++first; });
  command.OnEnd([&] { ++second; });
  EXPECT_EQ(first + second, 0);
  command.End();
  EXPECT_TRUE(command.has_ended());
  EXPECT_TRUE(command.AwaitEnd(milliseconds(0)));
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
  command.End();
  EXPECT_EQ(first, 1);
  int late = 0;
  command.OnEnd([&] { ++late; });
  EXPECT_EQ(late, 1) << "at once";
}

TEST(RunningCommand, MayBeAskedByWhomItCalls) {
  RunningCommand command("cm_a", 1, {}, {});
  bool had_ended = false;
  bool was_called = false;
  command.OnEnd([&] {
    had_ended = command.has_ended();
    command.OnEnd([&] { was_called = true; });
  });
  command.End();
  EXPECT_TRUE(had_ended);
  EXPECT_TRUE(was_called);
}

TEST(RunningCommand, LeavesItsSeatsWhenItHasEnded) {
  CommandSeats of_sandbox(1);
  CommandSeats of_node(1);
  std::vector<CommandSeats::Seat> seats;
  seats.push_back(of_sandbox.Take());
  seats.push_back(of_node.Take());
  RunningCommand command("cm_a", 1, {}, std::move(seats));
  std::uint32_t left = 9;
  command.OnEnd([&] { left = of_sandbox.taken() + of_node.taken(); });
  EXPECT_EQ(of_sandbox.taken(), 1U);
  EXPECT_EQ(of_node.taken(), 1U);
  command.End();
  EXPECT_EQ(left, 0U) << "whoever hears of the end may start the next";
}

TEST(RunningCommand, HasEndedOnceItsResultIsRecorded) {
  CommandSeats of_node(1);
  std::vector<CommandSeats::Seat> seats;
  seats.push_back(of_node.Take());
  RunningCommand command("cm_a", 1, {}, std::move(seats));
  EXPECT_TRUE(command.TryToRecord()) << "there is nothing to record";
  EXPECT_FALSE(command.has_ended());
  int attempts = 0;
  int calls = 0;
  command.OnEnd([&] { ++calls; });
  command.Conclude([&] { return ++attempts == 3; });
  EXPECT_EQ(attempts, 1);
  EXPECT_FALSE(command.TryToRecord());
  EXPECT_FALSE(command.has_ended());
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(of_node.taken(), 1U) << "what is kept in memory has its bound there";
  EXPECT_TRUE(command.TryToRecord());
  EXPECT_TRUE(command.has_ended());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(of_node.taken(), 0U);
  EXPECT_TRUE(command.TryToRecord());
  EXPECT_EQ(attempts, 3);
}

TEST(RunningCommand, IsAwaitedUntilItIsRecordedOrLeft) {
  RunningCommand recorded("cm_a", 1, {}, {});
  std::atomic<bool> has_room = false;
  recorded.Conclude([&] { return has_room.load(); });
  std::thread recording([&] {
    has_room = true;
    recorded.TryToRecord();
  });
  EXPECT_TRUE(recorded.AwaitRecorded());
  recording.join();
  RunningCommand left("cm_b", 2, {}, {});
  left.Conclude([] { return false; });
  std::thread leaving([&] { left.Leave(); });
  EXPECT_FALSE(left.AwaitRecorded());
  leaving.join();
}

TEST(RunningCommand, SaysWhyItWasStopped) {
  const policy::Time end(milliseconds(1000));
  const sandbox::DecisionNote let_run{.effect = "allow", .rule = "day", .source = "p:1", .reason = ""};
  const guard::Stop stop{.at = end, .note = {.effect = "deny", .rule = "day", .source = "p:1", .reason = "it ended"}};
  RunningCommand command("cm_a", 1, {}, {}, {.decision = let_run, .stop = stop});
  const auto says = [&command](const sandbox::Outcome& outcome, policy::Time now) {
    return command.DecisionOf(outcome, now)->effect;
  };
  EXPECT_EQ(says(sandbox::Cancelled{}, end), "deny");
  EXPECT_EQ(says(sandbox::Cancelled{}, end - milliseconds(1)), "allow") << "somebody else cancelled it";
  EXPECT_EQ(says(sandbox::Exited{0}, end), "allow") << "it ended just before";
  command.StopWhenDue(end);  // it has not started: nothing happens

  command.SetStop({.at = end + milliseconds(1), .note = {.effect = "ask", .rule = {}, .source = {}, .reason = {}}});
  EXPECT_EQ(says(sandbox::Cancelled{}, end), "deny") << "the first end counts";
  command.SetStop({.at = end - milliseconds(1), .note = {.effect = "ask", .rule = {}, .source = {}, .reason = {}}});
  EXPECT_EQ(says(sandbox::Cancelled{}, end), "ask");

  RunningCommand of_operator("cm_b", 2, {}, {});
  of_operator.SetStop(stop);
  EXPECT_FALSE(of_operator.DecisionOf(sandbox::Cancelled{}, end)) << "no policy let it run";
}

TEST(RunningCommand, EndsInAnotherThread) {
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    RunningCommand command("cm_a", 1, {}, {});
    std::atomic<int> calls = 0;
    std::thread ending([&] { command.End(); });
    command.OnEnd([&] { ++calls; });
    EXPECT_TRUE(command.AwaitEnd(std::chrono::minutes(1)));
    ending.join();
    EXPECT_EQ(calls, 1);
  }
}

}  // namespace
}  // namespace caisson::service
