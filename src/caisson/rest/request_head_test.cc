#include "caisson/rest/request_head.h"

#include <gtest/gtest.h>

namespace caisson::rest {
namespace {

Result<RequestHead> Read(std::string_view text) { return RequestParser().ReadHead(text); }

TEST(RequestParser, ReadsAHead) {
  const auto head = Read("POST /a?b=c HTTP/1.1\r\nHost: x\r\nX-One:  two \r\nContent-Length: 5\r\n\r\n");
  ASSERT_TRUE(head) << head.error().cause();
  EXPECT_EQ(head->method, "POST");
  EXPECT_EQ(head->target, "/a?b=c");
  EXPECT_EQ(head->version, 11U);
  EXPECT_EQ(head->One("x-one"), "two");
  EXPECT_EQ(head->content_length, 5U);
  EXPECT_FALSE(head->closes);
  EXPECT_TRUE(Read("GET / HTTP/1.1\r\nConnection: close\r\n\r\n")->closes);
  EXPECT_EQ(Read("GET / HTTP/1.0\r\n\r\n")->version, 10U);
}

TEST(RequestParser, RefusesWhatTwoReadersReadDifferently) {
  for (const char* text : {
           "",
           "GET / HTTP/1.1\r\n",
           "\r\nGET / HTTP/1.1\r\n\r\n",
           "GET / HTTP/1.1\n\n",
           "GET / HTTP/1.1\r\nHost: x\n\r\n",
           "GET / HTTP/1.1\r\nHost: x\rY: z\r\n\r\n",
           "GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n",
           "GET / HTTP/1.1\r\nA: b\r\n\tfolded\r\n\r\n",
           "GET / HTTP/1.1\r\nTransfer-Encoding : chunked\r\n\r\n",
           "GET / HTTP/1.1\r\n: x\r\n\r\n",
           "GET / HTTP/1.1\r\nnocolon\r\n\r\n",
           "GET  / HTTP/1.1\r\n\r\n",
           "GET /a b HTTP/1.1\r\n\r\n",
           "GET /\t HTTP/1.1\r\n\r\n",
           "GET /\xC3\xA9 HTTP/1.1\r\n\r\n",
           "G@T / HTTP/1.1\r\n\r\n",
           "GET / HTTP/2.0x\r\n\r\n",
           "GET /\r\n\r\n",
           "POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n",
           "POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
           "POST / HTTP/1.1\r\nContent-Length: 5, 5\r\n\r\n",
           "POST / HTTP/1.1\r\nContent-Length: +5\r\n\r\n",
           "POST / HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
           "POST / HTTP/1.1\r\nContent-Length: 0x5\r\n\r\n",
           "POST / HTTP/1.1\r\nContent-Length: \r\n\r\n",
           "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
           "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
           "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
           "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
           "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
           "POST / HTTP/1.1\r\nTransfer-Encoding: chunked, identity\r\n\r\n",
           "POST / HTTP/1.1\r\nTransfer-Encoding: identity\r\n\r\n",
           "POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n",
       }) {
    const auto head = Read(text);
    ASSERT_FALSE(head) << text;
    EXPECT_EQ(head.error().code(), Code::kInvalidArgument);
  }
  EXPECT_FALSE(Read(std::string("GET / HTTP/1.1\r\nA: \0\r\n\r\n", 23)));
}

TEST(RequestParser, BoundsTheFields) {
  std::string text = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 100; ++i) text += "a: b\r\n";
  EXPECT_TRUE(Read(text + "\r\n"));
  EXPECT_FALSE(Read(text + "a: b\r\n\r\n"));
}

TEST(RequestParser, ReadsChunks) {
  RequestParser parser;
  ASSERT_TRUE(parser.ReadHead("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"));
  std::string bytes = "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n";
  std::string waiting;
  for (const char c : bytes) {
    waiting += c;
    const auto taken = parser.TakeBody(waiting);
    ASSERT_TRUE(taken);
    waiting.erase(0, *taken);
  }
  EXPECT_TRUE(parser.is_done());
  EXPECT_EQ(parser.MoveBody(), "hello world");
}

TEST(RequestParser, RefusesBrokenChunks) {
  for (const char* body :
       {"-5\r\nhello\r\n", "x\r\n", "5\nhello\n", "5\r\nhelloX\r\n", "FFFFFFFFFFFFFFFFF\r\n", " 5\r\nhello\r\n"}) {
    RequestParser parser;
    ASSERT_TRUE(parser.ReadHead("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"));
    std::string waiting = body;
    Result<std::size_t> taken = parser.TakeBody(waiting);
    while (taken && *taken > 0 && !parser.is_done()) {
      waiting.erase(0, *taken);
      taken = parser.TakeBody(waiting);
    }
    EXPECT_FALSE(taken && parser.is_done()) << body;
  }
}

}  // namespace
}  // namespace caisson::rest
