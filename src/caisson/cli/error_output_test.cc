#include "caisson/cli/error_output.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace caisson::cli {
namespace {

TEST(ErrorText, SaysWhatWhyAndWhatToDo) {
  const Error error = Error(Code::kNotFound, "cannot open 'x'").Because("no such file").Remedy("make it");
  EXPECT_EQ(ErrorText(error), "caisson: cannot open 'x'\n  why: no such file\n  fix: make it\n");
  EXPECT_EQ(ErrorText(Error(Code::kInternal, "bad")), "caisson: bad\n");
}

TEST(ErrorText, IsSafeForATerminal) {
  EXPECT_EQ(ErrorText(Error(Code::kInternal, "a\x1B]0;x\x07\nb")), "caisson: a\\x1b]0;x\\x07\\nb\n");
}

TEST(ErrorJson, HasEveryField) {
  const Error error =
      Error(Code::kUnsupported, "no root").Because("uid 5").Remedy("sudo").Detail("primitive", "root").Retryable();
  const std::string text = ErrorJson(error);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const boost::json::value whole = boost::json::parse(text);
  const boost::json::object& body = whole.at("error").as_object();
  EXPECT_EQ(body.size(), 6U);
  EXPECT_EQ(body.at("code"), "unsupported");
  EXPECT_EQ(body.at("message"), "no root");
  EXPECT_EQ(body.at("cause"), "uid 5");
  EXPECT_EQ(body.at("remediation"), "sudo");
  EXPECT_EQ(body.at("retryable"), true);
  EXPECT_EQ(body.at("details").at("primitive"), "root");
}

TEST(ErrorJson, WritesNullForWhatLacks) {
  const boost::json::value whole = boost::json::parse(ErrorJson(Error(Code::kInternal, "bad")));
  const boost::json::object& body = whole.as_object().at("error").as_object();
  EXPECT_TRUE(body.at("cause").is_null());
  EXPECT_TRUE(body.at("remediation").is_null());
  EXPECT_EQ(body.at("retryable"), false);
  EXPECT_TRUE(body.at("details").as_object().empty());
}

TEST(ErrorJson, IsValidWhateverTheMessageHolds) {
  boost::json::error_code failed;
  boost::json::parse(ErrorJson(Error(Code::kInternal, "a\xFF\xC3\"\\\n\x01").Detail("k\xFE", "\x80")), failed);
  EXPECT_FALSE(failed) << failed.message();
}

}  // namespace
}  // namespace caisson::cli
