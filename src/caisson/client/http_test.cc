#include "caisson/client/http.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include "caisson/client/connect.h"
#include "caisson/client/scripted_node.h"

namespace caisson::client {
namespace {

using Then = ScriptedNode::Then;

std::vector<std::string> BytePieces(const std::string& text) {
  std::vector<std::string> pieces;
  for (const char c : text) pieces.emplace_back(1, c);
  return pieces;
}

TEST(Http, ExchangesOverOneConnection) {
  ScriptedNode node;
  node.Add(200, R"({"version":"1"})");
  node.Add({BytePieces(ReplyText(206, "abc", "application/octet-stream", "Content-Range: bytes 0-2/9\r\n"))});
  Endpoint endpoint = node.endpoint();
  endpoint.key = "secret";
  Http http(endpoint);
  const auto first = http.Ask({.target = "/v1/version"});
  ASSERT_TRUE(first) << first.error().message();
  EXPECT_EQ(first->body, R"({"version":"1"})");
  EXPECT_EQ(first->content_type, "application/json");
  const auto second =
      http.Ask({.method = "POST", .target = "/v1/x?y=z", .body = "{}", .content_type = "application/json"});
  ASSERT_TRUE(second);
  EXPECT_EQ(second->status, 206U);
  EXPECT_EQ(second->body, "abc");
  EXPECT_EQ(second->content_range, "bytes 0-2/9");
  const auto requests = node.Requests(2);
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_TRUE(requests[0].starts_with("GET /v1/version HTTP/1.1\r\nHost: localhost\r\n")) << requests[0];
  EXPECT_NE(requests[0].find("Authorization: Bearer secret\r\n"), std::string::npos);
  EXPECT_EQ(requests[0].find("Content-"), std::string::npos);
  EXPECT_TRUE(requests[1].starts_with("POST /v1/x?y=z HTTP/1.1\r\n"));
  EXPECT_NE(requests[1].find("Content-Length: 2\r\n"), std::string::npos);
  EXPECT_TRUE(requests[1].ends_with("\r\n\r\n{}"));
}

TEST(Http, ReadsChunksAndBodiesThatEndWithTheConnection) {
  ScriptedNode node;
  const std::string chunked =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + Chunk("ab") + Chunk("c") + "0\r\n\r\n";
  node.Add({BytePieces(chunked)});
  node.Add({{"HTTP/1.1 200 OK\r\n\r\n", "until", " the end"}, Then::kClose});
  node.Add(204, "");
  Http http(node.endpoint());
  EXPECT_EQ(http.Ask({.target = "/"})->body, "abc");
  EXPECT_EQ(http.Ask({.target = "/"})->body, "until the end");
  EXPECT_EQ(http.Ask({.target = "/"})->status, 204U) << "over a new connection";
}

TEST(Http, AReplyFrom400OnIsItsError) {
  ScriptedNode node;
  node.Add(404, R"({"code":"not_found","message":"no sandbox 'x'"})", "application/problem+json");
  Http http(node.endpoint());
  const auto reply = http.Ask({.target = "/"});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Code::kNotFound);
  EXPECT_EQ(reply.error().message(), "no sandbox 'x'");
}

TEST(Http, MakesANewConnectionWhenTheOldOneIsGone) {
  ScriptedNode node;
  node.Add({{ReplyText(200, "1")}, Then::kClose});
  node.Add(200, "2");
  Http http(node.endpoint());
  for (const char* expected : {"1", "2"}) {
    const auto reply = http.Ask({.target = "/"});
    ASSERT_TRUE(reply) << reply.error().message();
    EXPECT_EQ(reply->body, expected);
  }
}

TEST(Http, SaysWhatIsWrongWithAConnection) {
  ScriptedNode node;
  node.Add({{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"}, Then::kClose});
  node.Add({{}, Then::kClose});
  node.Add({{"SSH-2.0-OpenSSH_9.2\r\n"}, Then::kClose});
  Http http(node.endpoint());
  for (int i = 0; i < 3; ++i) {
    const auto reply = http.Ask({.target = "/"});
    ASSERT_FALSE(reply);
    EXPECT_TRUE(IsLost(reply.error())) << i << reply.error().message();
    EXPECT_FALSE(IsRefused(reply.error()));
    EXPECT_TRUE(reply.error().retryable());
  }
  node.StopListening();
  const auto refused = http.Ask({.target = "/"});
  ASSERT_FALSE(refused);
  EXPECT_TRUE(IsRefused(refused.error())) << refused.error().message();
  EXPECT_EQ(refused.error().code(), Code::kUnavailable);
}

TEST(Http, IsNotHeldByASilentNode) {
  ScriptedNode node;
  node.Add({{"HTTP/1.1 200 OK\r\nContent-Le"}});
  Http http(node.endpoint(), {.silence = std::chrono::milliseconds(50)});
  const auto reply = http.Ask({.target = "/"});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Code::kDeadlineExceeded);
}

TEST(Http, BoundsAReply) {
  ScriptedNode node;
  node.Add({{"HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n"}, Then::kClose});
  Http http(node.endpoint());
  const auto head = http.Ask({.target = "/"});
  ASSERT_FALSE(head);
  EXPECT_EQ(head.error().code(), Code::kResourceExhausted) << head.error().message();
  const std::string megabyte(1U << 20U, 'x');
  ScriptedNode::Answer endless{{"HTTP/1.1 200 OK\r\n\r\n"}, Then::kClose};
  for (int i = 0; i < 66; ++i) endless.pieces.push_back(megabyte);
  node.Add(std::move(endless));
  const auto body = http.Ask({.target = "/"});
  ASSERT_FALSE(body);
  EXPECT_EQ(body.error().code(), Code::kResourceExhausted) << body.error().message();
}

TEST(Http, StreamsAsItComesAndStopsWhenToldTo) {
  ScriptedNode node;
  node.Add({{EventStreamHead(), Chunk("one"), Chunk("two"), "0\r\n\r\n"}});
  node.Add({{EventStreamHead(), Chunk("one"), Chunk("two")}});
  node.Add(409, R"({"code":"conflict","message":"m"})", "application/problem+json");
  Http http(node.endpoint());
  std::string came;
  const auto all = [&](std::string_view bytes) {
    came += bytes;
    return Verdict::kContinue;
  };
  const auto ended = http.Stream({.target = "/"}, all, {}, std::chrono::seconds(20));
  ASSERT_TRUE(ended) << ended.error().message();
  EXPECT_EQ(*ended, StreamEnd::kEnded);
  EXPECT_EQ(came, "onetwo");
  const auto stopped =
      http.Stream({.target = "/"}, [](std::string_view) { return Verdict::kStop; }, {}, std::chrono::seconds(20));
  ASSERT_TRUE(stopped);
  EXPECT_EQ(*stopped, StreamEnd::kStopped);
  const auto refused = http.Stream({.target = "/"}, all, {}, std::chrono::seconds(20));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kConflict);
}

TEST(Http, LooksAtSomethingElseWhileAStreamIsSilent) {
  ScriptedNode node;
  node.Add({{EventStreamHead()}});
  Http http(node.endpoint());
  const os::Fd event(eventfd(3, EFD_CLOEXEC | EFD_SEMAPHORE));
  int looked = 0;
  const Wake wake{event.get(), [&] {
                    eventfd_t value = 0;
                    EXPECT_EQ(eventfd_read(event.get(), &value), 0);
                    return ++looked == 3 ? Verdict::kStop : Verdict::kContinue;
                  }};
  const auto end =
      http.Stream({.target = "/"}, [](std::string_view) { return Verdict::kContinue; }, wake, std::chrono::seconds(20));
  ASSERT_TRUE(end) << end.error().message();
  EXPECT_EQ(*end, StreamEnd::kStopped);
  EXPECT_EQ(looked, 3);
}

}  // namespace
}  // namespace caisson::client
