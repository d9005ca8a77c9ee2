#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "caisson/rest/server_fixture.h"

namespace caisson::rest {
namespace {

using std::chrono::milliseconds;

class RestLimits : public ServerTest {};

TEST_F(RestLimits, OfTheHead) {
  Start();
  EXPECT_EQ(Ask(RequestText("GET", "/healthz?" + std::string(KiB(8).value, 'x'))).status, 414);
  EXPECT_EQ(Ask("GET /" + std::string(KiB(20).value, 'x')).status, 414) << "a first line without an end";
  EXPECT_EQ(Ask(RequestText("GET", "/healthz", "X: " + std::string(KiB(16).value, 'x') + "\r\n")).status, 431);
  EXPECT_EQ(Ask(RequestText("GET", "/healthz", "X: " + std::string(KiB(15).value, 'x') + "\r\n")).status, 200);
  EXPECT_EQ(Ask("GET /healthz HTTP/1.1\r\nHost: x\r\n" + std::string(KiB(20).value, 'x')).status, 431)
      << "a field without an end";
}

TEST_F(RestLimits, OfTheBody) {
  ServerLimits limits;
  limits.json_body = KiB(1);
  limits.file_body = KiB(4);
  Start(limits);
  service_.AddSandbox("one");
  const std::string octets = "Content-Type: application/octet-stream\r\n";
  const std::string at = "/v1/sandboxes/one/files/x";
  EXPECT_EQ(Ask(RequestText("PUT", at, octets, std::string(4096, 'x'))).status, 200);
  EXPECT_EQ(Ask(RequestText("PUT", at, octets, std::string(4097, 'x'))).status, 413);
  std::string chunks;
  for (int i = 0; i < 5; ++i) chunks += "400\r\n" + std::string(1024, 'x') + "\r\n";
  EXPECT_EQ(Ask(RequestText("PUT", at, octets + "Transfer-Encoding: chunked\r\n") + chunks + "0\r\n\r\n").status, 413);
  const std::string padding(1024, ' ');
  EXPECT_EQ(Ask(JsonRequest("POST", "/v1/sandboxes", "{}" + padding.substr(2))).status, 201);
  EXPECT_EQ(Ask(JsonRequest("POST", "/v1/sandboxes", "{}" + padding)).status, 413);
}

TEST_F(RestLimits, OfALargeBodyWhoseClientReadsTheAnswerLate) {
  Start();
  Client client = Connect();
  // The answer comes before the body is sent, and still arrives.
  const Received received = client.Ask(
      "POST /v1/sandboxes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 104857600\r\n\r\n" +
      std::string(KiB(64).value, 'x'));
  EXPECT_EQ(received.status, 413);
}

TEST_F(RestLimits, OfAllBodiesTogether) {
  ServerLimits limits;
  limits.all_bodies = KiB(6);
  Start(limits);
  service_.AddSandbox("one");
  const std::string head =
      "PUT /v1/sandboxes/one/files/x HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\nContent-Length: "
      "4096\r\nExpect: 100-continue\r\n\r\n";
  Client first = Connect();
  ASSERT_TRUE(first.Send(head));
  EXPECT_EQ(first.ReceiveUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  const Received refused = Ask(head);
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.fields.at("retry-after"), "1");
  EXPECT_EQ(first.Ask(std::string(4096, 'x')).status, 200);
  Client third = Connect();
  ASSERT_TRUE(third.Send(head));
  EXPECT_EQ(third.ReceiveUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n") << "the room is free again";
}

TEST_F(RestLimits, OfConnections) {
  ServerLimits limits;
  limits.connections = 3;
  Start(limits);
  service_.AddSandbox("one");
  std::vector<Client> busy;
  for (std::size_t i = 0; i < 3; ++i) {
    busy.push_back(Connect());
    ASSERT_TRUE(busy.back().Send(JsonRequest("POST", "/v1/sandboxes/one/commands", R"({"argv":["sleep"]})")));
    (void)service_.AwaitCommand(i + 1);
  }
  const Received refused = Ask(RequestText("GET", "/healthz"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.fields.at("retry-after"), "1");
  EXPECT_EQ(refused.fields.at("connection"), "close");
  service_.End(service_.AwaitCommand(3), sandbox::Exited{0});
  EXPECT_EQ(busy.back().Receive().status, 200);
  // That one is idle now, and gives way.
  EXPECT_EQ(Ask(RequestText("GET", "/healthz")).status, 200);
  EXPECT_TRUE(busy.back().IsClosed());
}

TEST_F(RestLimits, ThousandsOfIdleConnectionsBreakNobody) {
  rlimit files{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = files.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &files);
  const std::size_t wanted = std::min<std::size_t>(5000, (files.rlim_cur - 100) / 2);
  Start();
  std::vector<Client> idle;
  idle.reserve(wanted);
  for (std::size_t i = 0; i < wanted; ++i) {
    idle.push_back(Connect());
    if (i % 500 == 0) {
      EXPECT_EQ(Ask(RequestText("GET", "/healthz")).status, 200) << i;
    }
  }
  EXPECT_EQ(Ask(RequestText("GET", "/healthz")).status, 200);
  EXPECT_LE(server_->connections(), 1024U);
  idle.clear();
  EXPECT_TRUE(AwaitConnections(0));
}

TEST_F(RestLimits, OfTimeForTheHead) {
  ServerLimits limits;
  limits.header_time = milliseconds(50);
  Start(limits);
  Client client = Connect();
  ASSERT_TRUE(client.Send("GET /healthz HTTP/1.1\r\nHo"));
  EXPECT_EQ(client.Receive().status, 408);
  EXPECT_TRUE(client.IsClosed());
}

TEST_F(RestLimits, OfIdleTime) {
  ServerLimits limits;
  limits.idle = milliseconds(50);
  Start(limits);
  Client client = Connect();
  EXPECT_EQ(client.Ask(RequestText("GET", "/healthz")).status, 200);
  EXPECT_EQ(client.ReceiveAll(), "") << "it ends without a word";
  EXPECT_TRUE(AwaitConnections(0));
}

TEST_F(RestLimits, OfTimeWithoutABodysBytes) {
  ServerLimits limits;
  limits.body_silence = milliseconds(50);
  Start(limits);
  Client client = Connect();
  ASSERT_TRUE(client.Send(
      "POST /v1/sandboxes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"));
  EXPECT_EQ(client.Receive().status, 408);
}

TEST_F(RestLimits, OfTimeForTheWholeBody) {
  ServerLimits limits;
  limits.body_time = milliseconds(100);
  Start(limits);
  Client client = Connect();
  ASSERT_TRUE(client.Send(
      "POST /v1/sandboxes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"));
  // Bytes that keep coming do not help.
  std::thread sender([&] {
    while (client.SendSome(" ") > 0) std::this_thread::sleep_for(milliseconds(1));
  });
  EXPECT_EQ(client.Receive().status, 408);
  sender.join();
}

TEST_F(RestLimits, OfAHalfSentRequestWhoseClientEnds) {
  Start();
  Client client = Connect();
  ASSERT_TRUE(client.Send(
      "POST /v1/sandboxes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"));
  client.EndSending();
  EXPECT_EQ(client.ReceiveAll(), "");
  Client head = Connect();
  ASSERT_TRUE(head.Send("GET /heal"));
  head.EndSending();
  EXPECT_EQ(head.ReceiveAll(), "");
  EXPECT_TRUE(AwaitConnections(0));
  EXPECT_EQ(service_.CallCount(), 0U);
}

TEST_F(RestLimits, AStuckSandboxLeavesTheOthersAlone) {
  ServerLimits limits;
  limits.workers = 3;
  limits.workers_of_one = 2;
  limits.waiting_of_one = 4;
  Start(limits);
  service_.AddSandbox("stuck");
  service_.AddSandbox("healthy");
  service_.Hold("stuck");
  std::vector<Client> waiting;
  for (int i = 0; i < 6; ++i) {
    waiting.push_back(Connect());
    ASSERT_TRUE(waiting.back().Send(RequestText("GET", "/v1/sandboxes/stuck")));
  }
  service_.AwaitHeld(2);
  // One more is refused at once; it may have to pass those that are still on their way.
  Received refused;
  for (int i = 0; i < 8 && refused.status != 503; ++i) {
    waiting.push_back(Connect());
    ASSERT_TRUE(waiting.back().Send(RequestText("GET", "/v1/sandboxes/stuck")));
    EXPECT_EQ(Ask(RequestText("GET", "/v1/sandboxes/healthy")).status, 200);
    if (i == 7) refused = waiting.back().Receive();
  }
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.fields.at("retry-after"), "1");
  service_.Release();
  EXPECT_EQ(waiting.front().Receive().status, 200);
}

TEST_F(RestLimits, OfTimeThatACallWaitsForItsWorker) {
  ServerLimits limits;
  limits.workers_of_one = 1;
  limits.wait = milliseconds(50);
  Start(limits);
  service_.AddSandbox("stuck");
  service_.Hold("stuck");
  Client first = Connect();
  ASSERT_TRUE(first.Send(RequestText("GET", "/v1/sandboxes/stuck")));
  service_.AwaitHeld(1);
  EXPECT_EQ(Ask(RequestText("GET", "/v1/sandboxes/stuck")).status, 503);
  service_.Release();
  EXPECT_EQ(first.Receive().status, 200) << "what has begun is answered, however long it takes";
}

TEST_F(RestLimits, DropAClientThatTakesNothing) {
  ServerLimits limits;
  limits.write_silence = milliseconds(50);
  Start(limits);
  service_.AddSandbox("one");
  service_.AddFile("/large", std::string(MiB(8).value, 'x'));
  Client client = Connect();
  ASSERT_TRUE(client.Send(RequestText("GET", "/v1/sandboxes/one/files/large")));
  EXPECT_FALSE(client.ReceiveUntil("\r\n\r\n").empty());
  EXPECT_TRUE(AwaitConnections(0));
  EXPECT_LT(client.ReceiveAll().size(), MiB(8).value);
}

}  // namespace
}  // namespace caisson::rest
