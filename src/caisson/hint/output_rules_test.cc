#include <gtest/gtest.h>

#include "caisson/hint/ended_command.h"
#include "caisson/hint/rules.h"

namespace caisson::hint {
namespace {

using sandbox::Exited;

EndedCommand Silent(std::vector<std::string> argv) {
  EndedCommand ended(Exited{0}, "");
  ended.command.argv = std::move(argv);
  return ended;
}

TEST(OutputTruncated, NamesTheStreamAndItsSize) {
  EndedCommand ended(Exited{0}, "some");
  ended.result.err.total_bytes = 9'000'000;
  EXPECT_EQ(Said(OutputTruncated, ended), "") << "not truncated";
  ended.result.err.truncated = true;
  const std::string said = Said(OutputTruncated, ended);
  EXPECT_TRUE(Names(said, "stderr has 9000000 bytes; the result holds the first 4.")) << said;
  ended.delivery = Delivery::kPassedThrough;
  EXPECT_EQ(Said(OutputTruncated, ended), "");
}

TEST(NonUtf8Output, NamesTheStream) {
  EXPECT_TRUE(Names(Said(NonUtf8Output, {Exited{0}, "", "\xFF\xFE"}), "stdout is not UTF-8"));
  EXPECT_TRUE(Names(Said(NonUtf8Output, {Exited{1}, "caf\xE9", "ok"}), "stderr is not UTF-8"));
  EXPECT_EQ(Said(NonUtf8Output, {Exited{0}, "", "caf\xC3\xA9\0\x1B"}), "");
  EndedCommand passed(Exited{0}, "", "\xFF");
  passed.delivery = Delivery::kPassedThrough;
  EXPECT_EQ(Said(NonUtf8Output, passed), "");
}

TEST(NonUtf8Output, IsSilentAboutACharacterThatTruncationCut) {
  EndedCommand ended(Exited{0}, "", "ab\xE2\x82");
  EXPECT_NE(Said(NonUtf8Output, ended), "");
  ended.result.out.truncated = true;
  EXPECT_EQ(Said(NonUtf8Output, ended), "");
}

TEST(EmptyOutput, SpeaksOfProgramsThatArePointlessWithout) {
  EXPECT_TRUE(Names(Said(EmptyOutput, Silent({"python3", "-c", "1 + 1"})), "print(...)"));
  EXPECT_TRUE(Names(Said(EmptyOutput, Silent({"sh", "-c", "/usr/bin/python3 -c '1 + 1'"})), "`python3`"));
  EXPECT_TRUE(Names(Said(EmptyOutput, Silent({"node", "-e", "1"})), "`node`"));
  EXPECT_TRUE(Names(Said(EmptyOutput, Silent({"cat", "empty.txt"})), "ls -la"));
  EXPECT_TRUE(Names(Said(EmptyOutput, Silent({"bash", "-c", "find . -name x"})), "`find`"));
}

TEST(EmptyOutput, IsSilentAboutThoseThatHaveAnotherPurpose) {
  for (const std::vector<std::string>& argv : std::vector<std::vector<std::string>>{{"true"},
                                                                                    {"mkdir", "x"},
                                                                                    {"python3", "build.py"},
                                                                                    {"sh", "-c", "cat a > b"},
                                                                                    {"sh", "-c", "cat a; true"},
                                                                                    {"sh", "-c", "x=$(cat a)"},
                                                                                    {"sh", "-c", ""},
                                                                                    {"sh", "-c", "   "},
                                                                                    {"sh", "script"},
                                                                                    {"find", ".", "-delete"}}) {
    EXPECT_EQ(Said(EmptyOutput, Silent(argv)), "") << argv.back();
  }
}

TEST(EmptyOutput, IsSilentWithoutEvidence) {
  EndedCommand ended = Silent({"cat", "x"});
  ended.delivery = Delivery::kPassedThrough;
  EXPECT_EQ(Said(EmptyOutput, ended), "");
  ended = Silent({"cat", "x"});
  ended.result.outcome = Exited{1};
  EXPECT_EQ(Said(EmptyOutput, ended), "");
  ended = Silent({"cat", "x"});
  ended.result.err.total_bytes = 1;
  EXPECT_EQ(Said(EmptyOutput, ended), "");
}

}  // namespace
}  // namespace caisson::hint
