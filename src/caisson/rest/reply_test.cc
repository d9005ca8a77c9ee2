#include "caisson/rest/reply.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "caisson/rest/problem.h"
#include "caisson/rest/request.h"

namespace caisson::rest {
namespace {

TEST(HeadText, CannotBeSplit) {
  Reply reply{.status = 201,
              .content_type = "text/plain",
              .fields = {{"Location", std::string("/a\r\nSet-Cookie: x\n\0y", 20)}},
              .body = {}};
  const std::string text = HeadText(reply, 3, AfterReply::kKeepAlive);
  EXPECT_TRUE(text.starts_with("HTTP/1.1 201 Created\r\n")) << text;
  EXPECT_NE(text.find("Location: /aSet-Cookie: xy\r\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Content-Length: 3\r\n"), std::string::npos);
  EXPECT_TRUE(text.ends_with("\r\n\r\n"));
  EXPECT_EQ(text.find("Connection"), std::string::npos);
}

TEST(HeadText, SaysHowTheBodyEnds) {
  const Reply reply{.status = 200, .content_type = "text/event-stream", .fields = {}, .body = {}};
  const std::string chunked = HeadText(reply, std::nullopt, AfterReply::kClose);
  EXPECT_NE(chunked.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_NE(chunked.find("Connection: close\r\n"), std::string::npos);
  EXPECT_EQ(chunked.find("Content-Length"), std::string::npos);
  EXPECT_EQ(HeadText({.status = 204, .content_type = {}, .fields = {}, .body = {}}, 0, AfterReply::kKeepAlive)
                .find("Content-Length"),
            std::string::npos);
}

TEST(ChunkText, HasItsSizeInFront) {
  EXPECT_EQ(ChunkText(std::string(26, 'x')), "1a\r\n" + std::string(26, 'x') + "\r\n");
  EXPECT_EQ(ChunkText(""), "0\r\n\r\n");
}

TEST(Problem, HoldsEverythingAnErrorSays) {
  const Reply reply = Problem(Error(Code::kResourceExhausted, "no room")
                                  .Because("full")
                                  .Remedy("wait")
                                  .Detail("retry_after_ms", "1500")
                                  .Retryable());
  EXPECT_EQ(reply.status, 429);
  EXPECT_EQ(reply.content_type, "application/problem+json");
  EXPECT_EQ(reply.fields, (std::vector<std::pair<std::string, std::string>>{{"Retry-After", "2"}}));
  EXPECT_EQ(reply.body,
            "{\"type\":\"about:blank\",\"title\":\"Too Many Requests\",\"status\":429,\"detail\":\"no room: full\","
            "\"code\":\"resource_exhausted\",\"message\":\"no room\",\"cause\":\"full\",\"remediation\":\"wait\","
            "\"retryable\":true,\"details\":{\"retry_after_ms\":\"1500\"}}\n");
}

TEST(Problem, HasOneStatusForEachCode) {
  const std::pair<Code, int> statuses[] = {{Code::kInvalidArgument, 400},  {Code::kNotFound, 404},
                                           {Code::kAlreadyExists, 409},    {Code::kPermissionDenied, 403},
                                           {Code::kConflict, 409},         {Code::kResourceExhausted, 429},
                                           {Code::kUnavailable, 503},      {Code::kUnsupported, 501},
                                           {Code::kDeadlineExceeded, 504}, {Code::kInternal, 500}};
  for (const auto& [code, status] : statuses) EXPECT_EQ(Problem(Error(code, "x")).status, status) << CodeName(code);
}

TEST(Accepts, ReadsTheField) {
  EXPECT_TRUE(Accepts(std::nullopt, "text/event-stream"));
  EXPECT_TRUE(Accepts("text/event-stream", "text/event-stream"));
  EXPECT_TRUE(Accepts("text/html, Text/*;q=0.5", "text/event-stream"));
  EXPECT_TRUE(Accepts("*/*", "application/octet-stream"));
  EXPECT_FALSE(Accepts("application/json", "text/event-stream"));
  EXPECT_FALSE(Accepts("", "text/event-stream"));
}

}  // namespace
}  // namespace caisson::rest
