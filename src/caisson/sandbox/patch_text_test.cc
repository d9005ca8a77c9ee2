#include "caisson/sandbox/patch_text.h"

#include <gtest/gtest.h>

namespace caisson::sandbox {
namespace {

std::string ForTerminal(std::string_view text) {
  std::string out;
  AppendForTerminal(out, text);
  return out;
}

TEST(PatchText, PlainNamesStandAsTheyAre) {
  EXPECT_EQ(PatchName("a", "/home/agent/x.txt"), "a/home/agent/x.txt");
  EXPECT_EQ(PatchName("b", "//x y"), "b/x y");
  EXPECT_EQ(PatchName("b", "gr\xC3\xBC\xC3\x9F"), "b/gr\xC3\xBC\xC3\x9F");
  EXPECT_EQ(PatchName("b", "/"), "b/");
}

TEST(PatchText, NamesThatCouldMisleadAReaderAreQuoted) {
  EXPECT_EQ(PatchName("a", "new\nline"), R"("a/new\nline")");
  EXPECT_EQ(PatchName("a", "\x1B[2J\r\t\x7F"), R"("a/\033[2J\r\t\177")");
  EXPECT_EQ(PatchName("a", R"(say "hi" \ bye)"), R"("a/say \"hi\" \\ bye")");
  EXPECT_EQ(PatchName("a", "\xFFz"), R"("a/\377z")");
  EXPECT_EQ(PatchName("a",
                      "\xC2\x9B"
                      "31m"),
            R"("a/\302\23331m")")
      << "the one-character CSI";
  EXPECT_EQ(PatchName("a",
                      "\xE2\x80\xAE"
                      "cod.exe"),
            R"("a/\342\200\256cod.exe")")
      << "right-to-left override";
}

TEST(PatchText, LinesKeepTheirNewlines) {
  using Lines = std::vector<std::string_view>;
  EXPECT_EQ(SplitLines(""), Lines{});
  EXPECT_EQ(SplitLines("\n"), Lines{"\n"});
  EXPECT_EQ(SplitLines("a\r\n\nb"), (Lines{"a\r\n", "\n", "b"}));
}

TEST(PatchText, ATerminalGetsNoControlCharacter) {
  EXPECT_EQ(ForTerminal("\ta \xE2\x82\xAC\n"), "\ta \xE2\x82\xAC\n");
  EXPECT_EQ(ForTerminal("x\r\n"), "x\\x0d\n");
  EXPECT_EQ(ForTerminal("\x1B]0;title\x07\x7F"), "\\x1b]0;title\\x07\\x7f");
  EXPECT_EQ(ForTerminal("\xC2\x9B"
                        "2J"),
            "\\x9b2J");
  EXPECT_EQ(ForTerminal("\xFF\x9B"), "\\xff\\x9b");
  EXPECT_EQ(ForTerminal("\xE2\x80\xAE\xE2\x81\xA6"), "\\u202e\\u2066");
  EXPECT_EQ(ForTerminal(std::string_view("\0", 1)), "\\x00");
}

}  // namespace
}  // namespace caisson::sandbox
