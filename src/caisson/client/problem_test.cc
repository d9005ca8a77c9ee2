#include "caisson/client/problem.h"

#include <gtest/gtest.h>

#include <string>

namespace caisson::client {
namespace {

TEST(ErrorOfReply, SaysWhatTheProblemSays) {
  const Error error = ErrorOfReply(
      409,
      R"({"type":"about:blank","title":"Conflict","status":409,"detail":"d","code":"already_exists","message":"m",)"
      R"("cause":"c","remediation":"r","retryable":true,"details":{"name":"web","odd":7}})");
  EXPECT_EQ(error.code(), Code::kAlreadyExists);
  EXPECT_EQ(error.message(), "m");
  EXPECT_EQ(error.cause(), "c");
  EXPECT_EQ(error.remediation(), "r");
  EXPECT_TRUE(error.retryable());
  ASSERT_EQ(error.details().size(), 1U);
  EXPECT_EQ(error.details()[0].first, "name");
}

TEST(ErrorOfReply, NullsAreEmpty) {
  const Error error = ErrorOfReply(404, R"({"code":"not_found","message":"m","cause":null,"remediation":null})");
  EXPECT_EQ(error.code(), Code::kNotFound);
  EXPECT_TRUE(error.cause().empty());
  EXPECT_FALSE(error.retryable());
}

TEST(ErrorOfReply, FollowsTheStatusWhereThereIsNoProblem) {
  for (const char* body : {"", "<html>", "[]", "7", "{}", R"({"code":"odd","message":"m"})", R"({"code":"internal"})",
                           R"({"code":7,"message":{}})"}) {
    EXPECT_EQ(ErrorOfReply(404, body).code(), Code::kNotFound) << body;
  }
  EXPECT_EQ(ErrorOfReply(400, "").code(), Code::kInvalidArgument);
  EXPECT_EQ(ErrorOfReply(401, "").code(), Code::kPermissionDenied);
  EXPECT_EQ(ErrorOfReply(500, "").code(), Code::kInternal);
  EXPECT_EQ(ErrorOfReply(504, "").code(), Code::kDeadlineExceeded);
  EXPECT_TRUE(ErrorOfReply(503, "").retryable());
  EXPECT_FALSE(ErrorOfReply(502, "").cause().empty());
}

TEST(ErrorOfReply, SurvivesDepth) { EXPECT_EQ(ErrorOfReply(500, std::string(100'000, '[')).code(), Code::kInternal); }

}  // namespace
}  // namespace caisson::client
