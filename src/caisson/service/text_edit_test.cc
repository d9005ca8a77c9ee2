#include "caisson/service/text_edit.h"

#include <gtest/gtest.h>

namespace caisson::service {
namespace {

TEST(Replaced, ReplacesEveryPlace) {
  EXPECT_EQ(Replaced("a = 1\nb = 1\n", "b = 1", "b = 2", 1)->text, "a = 1\nb = 2\n");
  EXPECT_EQ(Replaced("a = 1\nb = 1\n", "b = 1", "b = 2", 1)->line, 2U);
  EXPECT_EQ(Replaced("xxxx", "x", "yz", 4)->text, "yzyzyzyz");
  EXPECT_EQ(Replaced("xxxx", "xx", "", 2)->text, "") << "without overlap";
  EXPECT_EQ(Replaced("a", "a", "a", 1)->text, "a");
  EXPECT_EQ(Replaced(std::string_view("\0\xff\n", 3), std::string_view("\0\xff", 2), "x", 1)->text, "x\n");
}

TEST(Replaced, RefusesWhatIsNotThere) {
  for (const char* text : {"", "abc", "a  b"}) {
    const auto edited = Replaced(text, "a b", "x", 1);
    ASSERT_FALSE(edited) << text;
    EXPECT_EQ(edited.error().code(), Code::kNotFound);
  }
}

TEST(Replaced, RefusesAnotherNumberAndNamesTheLines) {
  const auto twice = Replaced("x\ny\nx\n", "x", "z", 1);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code(), Code::kConflict);
  EXPECT_NE(twice.error().message().find("2 times, not 1"), std::string::npos) << twice.error().message();
  EXPECT_NE(twice.error().cause().find("1, 3"), std::string::npos) << twice.error().cause();
  EXPECT_FALSE(Replaced("x", "x", "z", 2));
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += "x\n";
  EXPECT_LT(Replaced(many, "x", "z", 1).error().cause().size(), 100U);
}

TEST(Replaced, IsBounded) {
  const std::string text(1000, 'x');
  EXPECT_FALSE(Replaced(text, "x", std::string(17'000, 'y'), 1000));
  EXPECT_TRUE(Replaced(text, "x", std::string(16'000, 'y'), 1000));
}

}  // namespace
}  // namespace caisson::service
