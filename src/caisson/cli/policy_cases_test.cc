#include "caisson/cli/policy_cases.h"

#include <gtest/gtest.h>

namespace caisson::cli {
namespace {

using policy::Effect;

TEST(ReadPolicyCases, ReadsAnEffectAndACommandALine) {
  const auto cases =
      ReadPolicyCases("# what should be\n\nallow ls -l\n \t\ndeny rm  -rf x # all\nask git push", "cases.txt");
  ASSERT_TRUE(cases) << cases.error().message();
  ASSERT_EQ(cases->size(), 3U);
  EXPECT_EQ(cases->at(0).line, 3U);
  EXPECT_EQ(cases->at(0).expected, Effect::kAllow);
  EXPECT_EQ(cases->at(0).command, "ls -l");
  EXPECT_EQ(cases->at(1).line, 5U);
  EXPECT_EQ(cases->at(1).expected, Effect::kDeny);
  EXPECT_EQ(cases->at(1).command, "rm  -rf x # all") << "as it stands";
  EXPECT_EQ(cases->at(2).line, 6U);
  EXPECT_EQ(cases->at(2).expected, Effect::kAsk);
  EXPECT_EQ(cases->at(2).command, "git push");
}

TEST(ReadPolicyCases, OfNothingThereAreNone) {
  for (const char* text : {"", "\n", "\n\n# deny rm\n"}) EXPECT_TRUE(ReadPolicyCases(text, "f")->empty()) << text;
}

TEST(ReadPolicyCases, NamesTheLineThatMeansNothing) {
  for (const char* line : {"denied rm", "deny", "deny ", "rm -rf x", " deny rm", "Deny rm", "deny\trm", "\x1b[2J x"}) {
    const auto cases = ReadPolicyCases("allow ls\n" + std::string(line) + "\n", "cases.txt");
    ASSERT_FALSE(cases) << line;
    EXPECT_EQ(cases.error().code(), Code::kInvalidArgument);
    EXPECT_TRUE(cases.error().message().starts_with("cases.txt:2: ")) << cases.error().message();
    EXPECT_EQ(cases.error().cause().find('\x1b'), std::string::npos) << "what is told is printable";
    EXPECT_FALSE(cases.error().remediation().empty());
  }
}

TEST(TryPolicyCases, DecidesEachCommand) {
  const auto policy = policy::Policy::Preset("strict");
  const auto cases = ReadPolicyCases("allow ls | grep x\nallow rm x\ndeny rm x\n", "cases.txt");
  const std::vector<CaseResult> results = TryPolicyCases(*policy, *cases, {});
  ASSERT_EQ(results.size(), 3U);
  EXPECT_TRUE(results[0].holds());
  EXPECT_FALSE(results[1].holds());
  EXPECT_EQ(results[1].decision.effect, Effect::kDeny);
  EXPECT_EQ(results[1].one.line, 2U);
  EXPECT_TRUE(results[2].holds());
}

}  // namespace
}  // namespace caisson::cli
