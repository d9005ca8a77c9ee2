#include "caisson/base/utf8.h"

#include <gtest/gtest.h>

namespace caisson {
namespace {

using namespace std::string_literals;

TEST(IsUtf8, KnowsWhatIsWellFormed) {
  for (const std::string& text : {""s, "plain"s, "\0"s, "\xC3\xA9"s, "\xE2\x82\xAC"s, "\xF0\x9F\x98\x80"s,
                                  "\xEF\xBF\xBF"s, "\xED\x9F\xBF"s, "\xEE\x80\x80"s, "\xF4\x8F\xBF\xBF"s}) {
    EXPECT_TRUE(IsUtf8(text)) << Printable(text);
  }
  for (const std::string& text :
       {"\x80"s, "\xFF"s, "\xC0\x80"s, "\xC1\xBF"s, "\xE0\x9F\xBF"s, "\xED\xA0\x80"s, "\xF0\x8F\xBF\xBF"s,
        "\xF4\x90\x80\x80"s, "\xF5\x80\x80\x80"s, "\xC3"s, "\xE2\x82"s, "a\xE2\x82"s, "\xE2\x28\xA1"s, "ok\xC3"s}) {
    EXPECT_FALSE(IsUtf8(text)) << Printable(text);
  }
}

TEST(WholeUtf8Length, LeavesOutOnlyWhatTheEndCutShort) {
  EXPECT_EQ(WholeUtf8Length(""), 0U);
  EXPECT_EQ(WholeUtf8Length("abc"), 3U);
  EXPECT_EQ(WholeUtf8Length("ab\xC3\xA9"), 4U);
  EXPECT_EQ(WholeUtf8Length("ab\xC3"), 2U);
  EXPECT_EQ(WholeUtf8Length("ab\xE2\x82"), 2U);
  EXPECT_EQ(WholeUtf8Length("ab\xF0\x9F\x98"), 2U);
  EXPECT_EQ(WholeUtf8Length("\xF0\x9F\x98\x80"), 4U);
  EXPECT_EQ(WholeUtf8Length("\xC3"), 0U);
  EXPECT_EQ(WholeUtf8Length("ab\xFF"), 3U) << "not cut short, but wrong";
  EXPECT_EQ(WholeUtf8Length("\x80\x80\x80\x80"), 4U);
  EXPECT_EQ(WholeUtf8Length("ab\xED\xA0"), 4U) << "the beginning of a surrogate is wrong, not cut short";
}

TEST(ReplaceInvalidUtf8, KeepsEverythingElse) {
  EXPECT_EQ(ReplaceInvalidUtf8("a\xFF"
                               "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(ReplaceInvalidUtf8("\xE2\x82\xAC"), "\xE2\x82\xAC");
  EXPECT_TRUE(IsUtf8(ReplaceInvalidUtf8("\xF0\x9F\x98\xC3\x28\xED\xA0\x80")));
}

TEST(Printable, EscapesWhatSteersATerminal) {
  EXPECT_EQ(Printable("a\x1B[31m\n\t\r\x7F"), "a\\x1b[31m\\n\\t\\x0d\\x7f");
  EXPECT_EQ(Printable("\xC2\x9B"
                      "31m"),
            "\\x9b31m")
      << "the eight-bit form of ESC [";
  EXPECT_EQ(Printable("\xC2\xA0\xC3\xA9"), "\xC2\xA0\xC3\xA9");
  EXPECT_EQ(Printable("\x9B\xFF"), "\\x9b\\xff");
  EXPECT_EQ(Printable("a\0b"s), "a\\x00b");
}

TEST(Quoted, RepeatsOnlyTheBeginning) {
  EXPECT_EQ(Quoted("x"), "'x'");
  EXPECT_EQ(Quoted(std::string(1000, 'x')), "'" + std::string(64, 'x') + "...'");
  EXPECT_TRUE(IsUtf8(Quoted(std::string(63, 'x') + "\xE2\x82\xAC" + "yyy")));
}

}  // namespace
}  // namespace caisson
