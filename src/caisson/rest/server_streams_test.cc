#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <vector>

#include "caisson/rest/server_fixture.h"

namespace caisson::rest {
namespace {

using service::Stream;
using std::chrono::milliseconds;

constexpr const char* kEvents = "Accept: text/event-stream\r\n";
constexpr const char* kOctets = "Accept: application/octet-stream\r\n";

class RestStreams : public ServerTest {
 protected:
  void Begin(ServerLimits limits = {}) {
    Start(limits);
    service_.AddSandbox("one");
    const Received begun =
        Ask(JsonRequest("POST", "/v1/sandboxes/one/commands", R"({"argv":["work"],"background":true})"));
    ASSERT_EQ(begun.status, 201);
    command_ = service_.AwaitCommand(1);
    output_ = "/v1/sandboxes/one/commands/" + command_ + "/output";
  }
  std::string command_;
  std::string output_;
};

TEST_F(RestStreams, FollowACommandToItsEnd) {
  Begin();
  Client client = Connect();
  ASSERT_TRUE(client.Send(RequestText("GET", output_, kEvents)));
  EXPECT_NE(client.ReceiveUntil("\r\n\r\n").find("Content-Type: text/event-stream"), std::string::npos);
  service_.Print(command_, Stream::kStdout, "first\n");
  EXPECT_NE(client.ReceiveUntil("\n\n").find("event: stdout\nid: 6,0\ndata: {\"offset\":0,\"text\":\"first\\n\"}"),
            std::string::npos);
  service_.Print(command_, Stream::kStderr, "oops");
  EXPECT_NE(client.ReceiveUntil("\n\n").find("event: stderr\nid: 6,4\ndata: {\"offset\":0,\"text\":\"oops\"}"),
            std::string::npos);
  service_.End(command_, sandbox::Exited{3});
  const std::string end = client.ReceiveUntil("\n\n");
  EXPECT_NE(end.find("event: end\nid: 6,4\ndata: {\"sandbox\""), std::string::npos) << end;
  EXPECT_NE(end.find("\"exit_code\":3"), std::string::npos);
  EXPECT_EQ(client.ReceiveUntil("0\r\n\r\n"), "\r\n0\r\n\r\n");
  EXPECT_EQ(client.Ask(RequestText("GET", "/healthz")).status, 200) << "the connection goes on";
}

TEST_F(RestStreams, ResumeWhereTheyWere) {
  Begin();
  service_.Print(command_, Stream::kStdout, "0123456789");
  service_.Drop(command_, 4);
  service_.End(command_, sandbox::Exited{0});
  const Received resumed = Ask(RequestText("GET", output_, std::string(kEvents) + "Last-Event-ID: 6,0\r\n"));
  EXPECT_TRUE(
      resumed.body.starts_with("event: stdout\nid: 10,0\ndata: {\"offset\":6,\"text\":\"6789\"}\n\nevent: end\n"))
      << resumed.body;
  const Received lost = Ask(RequestText("GET", output_ + "?stdout_from=1", kEvents));
  EXPECT_TRUE(
      lost.body.starts_with("event: gap\nid: 4,0\ndata: {\"stream\":\"stdout\",\"offset\":1,\"dropped_bytes\":3}\n\n"))
      << lost.body;
  EXPECT_EQ(Ask(RequestText("GET", output_, std::string(kEvents) + "Last-Event-ID: x\r\n")).status, 400);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(Ask(RequestText("GET", output_, kEvents)).body, Ask(RequestText("GET", output_, kEvents)).body);
}

TEST_F(RestStreams, GiveTheBytesOfOneStream) {
  Begin();
  const std::string bytes("a\0\xFF\r\n", 5);
  service_.Print(command_, Stream::kStdout, bytes);
  service_.Print(command_, Stream::kStderr, "other");
  const Received now = Ask(RequestText("GET", output_ + "?stream=stdout&follow=false", kOctets));
  EXPECT_EQ(now.body, bytes);
  EXPECT_TRUE(now.is_whole);
  Client client = Connect();
  ASSERT_TRUE(client.Send(RequestText("GET", output_ + "?stream=stderr&stderr_from=2", kOctets)));
  EXPECT_NE(client.ReceiveUntil("her\r\n").find("her"), std::string::npos);
  service_.End(command_, sandbox::Exited{0});
  EXPECT_EQ(client.ReceiveUntil("0\r\n\r\n"), "0\r\n\r\n");
  service_.Drop(command_, 2);
  EXPECT_FALSE(Ask(RequestText("GET", output_ + "?stream=stdout", kOctets)).is_whole)
      << "bytes lack, and the client sees it";
  EXPECT_EQ(Ask(RequestText("GET", output_ + "?stream=stdout", kEvents)).status, 406);
  EXPECT_EQ(Ask(RequestText("GET", output_, kOctets)).status, 406);
}

TEST_F(RestStreams, EndWithoutFollowing) {
  Begin();
  service_.Print(command_, Stream::kStdout, "so far");
  const Received now = Ask(RequestText("GET", output_ + "?follow=false", kEvents));
  EXPECT_EQ(now.body, "event: stdout\nid: 6,0\ndata: {\"offset\":0,\"text\":\"so far\"}\n\n");
  EXPECT_TRUE(now.is_whole);
  const Received head = Ask(RequestText("HEAD", output_, kEvents));
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
}

TEST_F(RestStreams, SaySomethingWhileNothingHappens) {
  ServerLimits limits;
  limits.stream_silence = milliseconds(20);
  Begin(limits);
  Client client = Connect();
  ASSERT_TRUE(client.Send(RequestText("GET", output_, kEvents)));
  EXPECT_FALSE(client.ReceiveUntil("\r\n\r\n").empty());
  EXPECT_EQ(client.ReceiveUntil(": \n\n"), "4\r\n: \n\n");
  EXPECT_EQ(client.ReceiveUntil(": \n\n"), "\r\n4\r\n: \n\n");
}

TEST_F(RestStreams, ASlowClientStopsNobody) {
  Begin();
  std::string line;
  while (line.size() < MiB(1).value) line += "a line of the output\n";
  Client slow = Connect();
  ASSERT_TRUE(slow.Send(RequestText("GET", output_, std::string(kEvents) + "Connection: close\r\n")));
  EXPECT_FALSE(slow.ReceiveUntil("\r\n\r\n").empty());
  for (int i = 0; i < 20; ++i) service_.Print(command_, Stream::kStdout, line);
  // One that reads gets everything meanwhile, and the calls are answered.
  const std::string whole = Ask(RequestText("GET", output_ + "?stream=stdout&follow=false", kOctets)).body;
  EXPECT_EQ(whole.size(), 20 * line.size());
  EXPECT_LT(service_.TakenByFollowers() - whole.size(), MiB(2).value) << "nothing is read ahead but what sockets hold";
  EXPECT_EQ(Ask(RequestText("GET", "/v1/sandboxes/one")).status, 200);
  service_.End(command_, sandbox::Exited{0});
  EXPECT_NE(slow.ReceiveAll().find("event: end"), std::string::npos) << "it gets all in the end";
}

TEST_F(RestStreams, DropAClientThatReadsNothing) {
  ServerLimits limits;
  limits.write_silence = milliseconds(50);
  Begin(limits);
  service_.Print(command_, Stream::kStdout, std::string(MiB(8).value, 'x'));
  Client client = Connect();
  ASSERT_TRUE(client.Send(RequestText("GET", output_, kEvents)));
  EXPECT_FALSE(client.ReceiveUntil("\r\n\r\n").empty());
  EXPECT_TRUE(AwaitConnections(0));
  EXPECT_EQ(service_.Followers(), 0U);
}

TEST_F(RestStreams, LetGoOfAClientThatHasGone) {
  Begin();
  {
    Client client = Connect();
    ASSERT_TRUE(client.Send(RequestText("GET", output_, kEvents)));
    EXPECT_FALSE(client.ReceiveUntil("\r\n\r\n").empty());
  }
  EXPECT_TRUE(AwaitConnections(0));
  EXPECT_EQ(service_.Followers(), 0U);
  EXPECT_EQ(service_.Cancels(), 0U) << "a follower is not the one who runs it";
}

TEST_F(RestStreams, TellTheNodesEvents) {
  Start();
  service_.AddEvent("sandbox.running");
  service_.AddEvent("command.ended");
  Client client = Connect();
  ASSERT_TRUE(client.Send(RequestText("GET", "/v1/events?after=1", kEvents)));
  EXPECT_FALSE(client.ReceiveUntil("\r\n\r\n").empty());
  const std::string second = client.ReceiveUntil("\n\n");
  EXPECT_NE(second.find("event: command.ended\nid: 2\ndata: {\"number\":2,"), std::string::npos) << second;
  service_.AddEvent("sandbox.deleted");
  EXPECT_NE(client.ReceiveUntil("\n\n").find("\"type\":\"sandbox.deleted\""), std::string::npos);
  Client resumed = Connect();
  ASSERT_TRUE(resumed.Send(RequestText("GET", "/v1/events", std::string(kEvents) + "Last-Event-ID: 2\r\n")));
  EXPECT_FALSE(resumed.ReceiveUntil("\r\n\r\n").empty());
  EXPECT_NE(resumed.ReceiveUntil("\n\n").find("id: 3\n"), std::string::npos);
}

TEST_F(RestStreams, EndWhenTheServerStops) {
  Begin();
  Client client = Connect();
  ASSERT_TRUE(client.Send(RequestText("GET", output_, kEvents)));
  EXPECT_FALSE(client.ReceiveUntil("\r\n\r\n").empty());
  server_->Stop();
  EXPECT_TRUE(client.IsClosed());
  EXPECT_EQ(service_.Followers(), 0U);
}

}  // namespace
}  // namespace caisson::rest
