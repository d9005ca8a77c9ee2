#include "caisson/client/follow.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <future>

#include "caisson/client/input_pump.h"
#include "caisson/client/scripted_node.h"

namespace caisson::client {
namespace {

using Then = ScriptedNode::Then;

constexpr const char* kEnd = R"(data: {"outcome":"exited","exit_code":3,"signal":null,"hints":[]})";

std::string Event(const std::string& name, const std::string& data) {
  return "event: " + name + "\ndata: " + data + "\n\n";
}
std::string OutText(int offset, const std::string& text, const std::string& stream = "stdout") {
  return Event(stream, R"({"offset":)" + std::to_string(offset) + R"(,"text":")" + text + "\"}");
}
std::string EndEvent() { return std::string("event: end\n") + kEnd + "\n\n"; }

// Collects what a sink is given.
struct Collected {
  std::string out;
  std::string err;
  std::uint64_t dropped = 0;
  OutputSink sink() {
    return {[this](Stream stream, std::string_view bytes) -> Status {
              (stream == Stream::kStdout ? out : err) += bytes;
              return {};
            },
            [this](Stream, std::uint64_t bytes) { dropped += bytes; }};
  }
};

ScriptedNode::Answer StreamOf(const std::vector<std::string>& chunks, Then then = Then::kClose) {
  ScriptedNode::Answer answer{{EventStreamHead()}, then};
  for (const std::string& chunk : chunks) answer.pieces.push_back(Chunk(chunk));
  return answer;
}

TEST(FollowOutput, GivesBothStreamsAndTheResult) {
  ScriptedNode node;
  const std::string events = ": hi\n\n" + OutText(0, "he") + OutText(0, "err", "stderr") + OutText(2, "llo") +
                             Event("stdout", R"({"offset":5,"base64":"AP8="})") + Event("later_kind", "{}") +
                             EndEvent();
  std::vector<std::string> bytes;
  for (const char c : events) bytes.emplace_back(1, c);
  node.Add(StreamOf(bytes));
  Collected collected;
  const auto followed = FollowOutput(node.endpoint(), "web", "cm_a", {}, collected.sink());
  ASSERT_TRUE(followed) << followed.error().message();
  ASSERT_TRUE(followed->result);
  EXPECT_EQ(followed->result->outcome, "exited");
  EXPECT_EQ(followed->result->exit_code, 3);
  EXPECT_EQ(collected.out, std::string("hello\0\xFF", 7));
  EXPECT_EQ(collected.err, "err");
  const auto requests = node.Requests(1);
  EXPECT_TRUE(requests[0].starts_with("GET /v1/sandboxes/web/commands/cm_a/output?follow=true HTTP/1.1"))
      << requests[0];
  EXPECT_NE(requests[0].find("Accept: text/event-stream"), std::string::npos);
}

TEST(FollowOutput, GoesOnWhereALostConnectionEnded) {
  ScriptedNode node;
  node.Add(StreamOf({OutText(0, "abc"), OutText(0, "x", "stderr"), "event: stdout\ndata: {\"offset\":3,\"te"}));
  node.Add({{}, Then::kClose});
  node.Add(503, R"({"code":"unavailable","message":"starting","retryable":true})", "application/problem+json");
  // What was given before comes again: none of it may be written twice.
  node.Add(StreamOf({OutText(1, "bcdef"), OutText(0, "x", "stderr"), OutText(1, "y", "stderr"), EndEvent()}));
  Collected collected;
  const auto followed = FollowOutput(node.endpoint(), "web", "cm_a", {}, collected.sink());
  ASSERT_TRUE(followed) << followed.error().message();
  EXPECT_EQ(collected.out, "abcdef");
  EXPECT_EQ(collected.err, "xy");
  const auto requests = node.Requests(4);
  ASSERT_EQ(requests.size(), 4U);
  EXPECT_NE(requests[0].find("Last-Event-ID: 0,0\r\n"), std::string::npos) << requests[0];
  EXPECT_NE(requests[3].find("Last-Event-ID: 3,1\r\n"), std::string::npos) << requests[3];
}

TEST(FollowOutput, SurvivesANodeThatIsStartedAgain) {
  ScriptedNode node;
  node.Add(StreamOf({OutText(0, "a")}));
  node.Add(StreamOf({OutText(1, "b"), EndEvent()}));
  Collected collected;
  std::promise<void> is_down;
  bool was_down = false;
  OutputSink sink = collected.sink();
  sink.write = [&, write = sink.write](Stream stream, std::string_view bytes) {
    if (!std::exchange(was_down, true)) {
      node.StopListening();
      is_down.set_value();
    }
    return write(stream, bytes);
  };
  std::thread restart([&] {
    is_down.get_future().wait();
    node.Listen();
  });
  const auto followed = FollowOutput(node.endpoint(), "web", "cm_a", {}, sink);
  restart.join();
  ASSERT_TRUE(followed) << followed.error().message();
  EXPECT_EQ(collected.out, "ab");
}

TEST(FollowOutput, GivesUpWhenTheNodeStaysAway) {
  ScriptedNode node;
  node.Add(StreamOf({OutText(0, "a")}));
  const Endpoint endpoint = node.endpoint();
  Collected collected;
  FollowOptions options;
  options.patience = std::chrono::milliseconds(100);
  OutputSink sink = collected.sink();
  sink.write = [&, write = sink.write](Stream stream, std::string_view bytes) {
    node.StopListening();
    return write(stream, bytes);
  };
  const auto followed = FollowOutput(endpoint, "web", "cm_a", options, sink);
  ASSERT_FALSE(followed);
  EXPECT_EQ(followed.error().code(), Code::kUnavailable);
  EXPECT_EQ(collected.out, "a");
}

TEST(FollowOutput, AnErrorOfTheNodeIsTheEnd) {
  ScriptedNode node;
  node.Add(404, R"({"code":"not_found","message":"no command"})", "application/problem+json");
  Collected collected;
  const auto followed = FollowOutput(node.endpoint(), "web", "cm_a", {}, collected.sink());
  ASSERT_FALSE(followed);
  EXPECT_EQ(followed.error().code(), Code::kNotFound);
  EXPECT_EQ(node.Requests(1).size(), 1U) << "and it is not asked again";
}

TEST(FollowOutput, WithoutWaitingItEndsWithTheStream) {
  ScriptedNode node;
  ScriptedNode::Answer answer = StreamOf({OutText(0, "so far")}, Then::kKeep);
  answer.pieces.emplace_back("0\r\n\r\n");
  node.Add(std::move(answer));
  Collected collected;
  FollowOptions options;
  options.wait = false;
  const auto followed = FollowOutput(node.endpoint(), "web", "cm_a", options, collected.sink());
  ASSERT_TRUE(followed) << followed.error().message();
  EXPECT_FALSE(followed->result);
  EXPECT_EQ(collected.out, "so far");
}

TEST(FollowOutput, ASinkThatFailsEndsIt) {
  ScriptedNode node;
  node.Add(StreamOf({OutText(0, "a"), OutText(1, "b")}, Then::kKeep));
  OutputSink sink{[](Stream, std::string_view) -> Status { return Fail(Error(Code::kUnavailable, "pipe closed")); },
                  [](Stream, std::uint64_t) {}};
  const auto followed = FollowOutput(node.endpoint(), "web", "cm_a", {}, sink);
  ASSERT_FALSE(followed);
  EXPECT_EQ(followed.error().message(), "pipe closed");
}

TEST(OutputOrder, SaysWhatIsDroppedAndRefusesHoles) {
  Collected collected;
  OutputOrder order({});
  ASSERT_TRUE(order.Take({"", "gap", R"({"stream":"stdout","offset":0,"dropped_bytes":10})"}, collected.sink()));
  ASSERT_TRUE(order.Take({"", "gap", R"({"stream":"stdout","offset":0,"dropped_bytes":10})"}, collected.sink()));
  EXPECT_EQ(collected.dropped, 10U);
  ASSERT_TRUE(order.Take({"", "stdout", R"({"offset":8,"text":"xxab"})"}, collected.sink()));
  EXPECT_EQ(collected.out, "ab");
  EXPECT_EQ(order.at().out, 12U);
  EXPECT_FALSE(order.Take({"", "stdout", R"({"offset":13,"text":"c"})"}, collected.sink())) << "a hole";
  for (const char* data :
       {"", "[]", "{}", R"({"offset":-1,"text":"a"})", R"({"offset":12})", R"({"offset":12,"base64":"?"})"}) {
    EXPECT_FALSE(order.Take({"", "stdout", data}, collected.sink())) << data;
  }
  EXPECT_FALSE(order.Take({"", "gap", R"({"stream":"other","offset":0,"dropped_bytes":1})"}, collected.sink()));
  EXPECT_FALSE(order.Take({"", "end", "{}"}, collected.sink()));
  EXPECT_EQ(collected.out, "ab");
}

TEST(InputPump, SendsWhatWasNotTakenAgainAndThenTheEnd) {
  ScriptedNode node;
  node.Add(200, R"({"accepted_bytes":2})");
  node.Add(200, R"({"accepted_bytes":3})");
  node.Add(200, R"({"accepted_bytes":0})");
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const os::Fd reader(ends[0]);
  os::Fd writer(ends[1]);
  InputPump pump;
  ASSERT_TRUE(pump.Start(node.endpoint(), "web", "cm_a", reader.get()));
  ASSERT_EQ(write(writer.get(), "hello", 5), 5);
  (void)node.Requests(2);
  writer.Reset();
  const auto requests = node.Requests(3);
  EXPECT_FALSE(pump.Stop());
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_TRUE(requests[0].starts_with("POST /v1/sandboxes/web/commands/cm_a/input HTTP/1.1")) << requests[0];
  EXPECT_TRUE(requests[0].ends_with("\r\n\r\nhello"));
  EXPECT_TRUE(requests[1].ends_with("\r\n\r\nllo"));
  EXPECT_TRUE(requests[2].starts_with("POST /v1/sandboxes/web/commands/cm_a/input?close=true HTTP/1.1"));
}

TEST(InputPump, EndsQuietlyWithTheCommandAndLoudlyWithTheConnection) {
  ScriptedNode node;
  node.Add(409, R"({"code":"conflict","message":"ended"})", "application/problem+json");
  node.Add({{}, Then::kClose});
  for (const bool is_loud : {false, true}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const os::Fd reader(ends[0]);
    const os::Fd writer(ends[1]);
    InputPump pump;
    ASSERT_TRUE(pump.Start(node.endpoint(), "web", "cm_a", reader.get()));
    ASSERT_EQ(write(writer.get(), "x", 1), 1);
    (void)node.Requests(is_loud ? 2 : 1);
    EXPECT_EQ(pump.Stop().has_value(), is_loud);
  }
}

}  // namespace
}  // namespace caisson::client
