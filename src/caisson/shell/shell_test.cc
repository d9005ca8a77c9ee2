#include "caisson/shell/shell.h"

#include <gtest/gtest.h>

#include <string>

#include "caisson/shell/analysis_text.h"

namespace caisson::shell {
namespace {

TEST(Analyze, SaysWhereEachCommandBegins) {
  const std::string text = "a; `b \\`c\\``\ncat <<-E\n\t$(d)\n\tE\nx=1 e";
  const Analysis analysis = Analyze(text);
  ASSERT_FALSE(analysis.unknown);
  std::string starts;
  for (const SimpleCommand& command : analysis.commands) {
    EXPECT_TRUE(starts.empty() || command.offset > 0);
    starts += text.at(command.offset);
  }
  EXPECT_EQ(starts, "a`bccdx");
}

TEST(Analyze, TellsAWordAsItIsWritten) {
  const Analysis analysis = Analyze("t\\ouch \"$x\"'y'");
  ASSERT_EQ(analysis.commands.size(), 1U);
  ASSERT_EQ(analysis.commands[0].words.size(), 2U);
  EXPECT_EQ(analysis.commands[0].words[0].source, "t\\ouch");
  EXPECT_EQ(analysis.commands[0].words[1].source, "\"$x\"'y'");
}

TEST(Analyze, CountsTheDepth) {
  EXPECT_EQ(Analyze("a").depth, 0U);
  EXPECT_EQ(Analyze("(a; { b; }); c").depth, 2U);
  EXPECT_EQ(Analyze("a $(b `c ${x}`)").depth, 3U);
}

TEST(Analyze, SaysWhereWhatIsUnknownStands) {
  const Analysis analysis = Analyze("a; b $[1]");
  ASSERT_TRUE(analysis.unknown);
  EXPECT_EQ(analysis.unknown->offset, 5U);
}

}  // namespace
}  // namespace caisson::shell
