#include "caisson/rest/percent.h"

#include <gtest/gtest.h>

namespace caisson::rest {
namespace {

TEST(PercentDecode, DecodesOnce) {
  EXPECT_EQ(PercentDecode("a%20b%2Fc%2f").value(), "a b/c/");
  EXPECT_EQ(PercentDecode("%252F").value(), "%2F");
  EXPECT_EQ(PercentDecode("caf%C3%A9").value(), "caf\xC3\xA9");
  EXPECT_EQ(PercentDecode("a+b").value(), "a+b");
  EXPECT_EQ(PercentDecode("").value(), "");
}

TEST(PercentDecode, RefusesWhatIsNoText) {
  for (const char* text : {"%", "%4", "a%4", "%zz", "%-1", "%+1", "% 1", "%00", "%FF", "%C3", "%C0%AF", "%ED%A0%80"}) {
    const auto decoded = PercentDecode(text);
    ASSERT_FALSE(decoded) << text;
    EXPECT_EQ(decoded.error().code(), Code::kInvalidArgument);
  }
}

TEST(FilePathOf, IsAbsolute) {
  EXPECT_EQ(FilePathOf("home/agent/x").value(), "/home/agent/x");
  EXPECT_EQ(FilePathOf("home%2Fagent%2Fx").value(), "/home/agent/x");
  EXPECT_EQ(FilePathOf("a%20b/.hidden/..x/x..").value(), "/a b/.hidden/..x/x..");
  EXPECT_EQ(FilePathOf("").value(), "/");
}

TEST(FilePathOf, RefusesWhatOthersNormalise) {
  for (const char* tail :
       {"/", "/etc/passwd", "a//b", "a/", "a/./b", "..", "a/..", "a/../b", "%2E%2E/b", "a%2F..%2Fb", "a%2F"}) {
    EXPECT_FALSE(FilePathOf(tail)) << tail;
  }
}

TEST(FilePathOf, IsBounded) {
  std::string longest = "xx";
  while (longest.size() < 4094) longest = "a/" + longest;
  EXPECT_TRUE(FilePathOf(longest));
  EXPECT_FALSE(FilePathOf(longest + "x"));
}

}  // namespace
}  // namespace caisson::rest
