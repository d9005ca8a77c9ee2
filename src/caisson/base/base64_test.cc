#include "caisson/base/base64.h"

#include <gtest/gtest.h>

namespace caisson {
namespace {

TEST(Base64, PadsAsTheStandardSays) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foo"), "Zm9v");
  EXPECT_EQ(Base64("foobar"), "Zm9vYmFy");
}

TEST(Base64, ReadsBackEveryByte) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    const std::string some = bytes.substr(bytes.size() - length);
    const auto decoded = DecodeBase64(Base64(some));
    ASSERT_TRUE(decoded) << length;
    EXPECT_EQ(*decoded, some);
  }
}

TEST(Base64, RefusesAnotherForm) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zh==", "Zm9=", "Z===", "Zm9v\n", "Zm 9", "Zm 9v",
                           "====", "=Zg=", "Zg==Zg==", "Z-8_", "-_-_", "Zm9v===="}) {
    EXPECT_FALSE(DecodeBase64(text)) << text;
  }
}

}  // namespace
}  // namespace caisson
