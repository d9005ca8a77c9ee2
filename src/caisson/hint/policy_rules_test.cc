#include <gtest/gtest.h>

#include "caisson/hint/ended_command.h"
#include "caisson/hint/rules.h"

namespace caisson::hint {
namespace {

EndedCommand Refused(sandbox::Outcome outcome, const std::string& rule, const std::string& alternative) {
  EndedCommand ended(std::move(outcome), "");
  ended.result.decision = sandbox::DecisionNote{.effect = "deny",
                                                .rule = rule,
                                                .source = "policy.toml:3",
                                                .reason = "no rule allows it",
                                                .alternative = alternative};
  return ended;
}

TEST(DeniedByPolicy, NamesTheRuleAndTheAllowedWay) {
  const std::string said = Said(DeniedByPolicy, Refused(sandbox::Denied{}, "no curl", "use Python's urllib.request"));
  EXPECT_TRUE(Names(said, "`no curl`") && Names(said, "does not allow") && Names(said, "Use Python's urllib.request."))
      << said;
}

TEST(DeniedByPolicy, SaysThatSomebodyIsToBeAsked) {
  const std::string said = Said(DeniedByPolicy, Refused(sandbox::NeedsApproval{"ap_x"}, "publish", ""));
  EXPECT_TRUE(Names(said, "wants somebody to be asked") && Names(said, "Do without it")) << said;
}

TEST(DeniedByPolicy, SaysThatItIsNotAllowedAnyMore) {
  const std::string said = Said(DeniedByPolicy, Refused(sandbox::Cancelled{}, "publish", ""));
  EXPECT_TRUE(Names(said, "any more: No rule allows it.") && Names(said, "when it is allowed")) << said;
  EndedCommand cancelled = Refused(sandbox::Cancelled{}, "publish", "");
  cancelled.result.decision->effect = "allow";
  EXPECT_EQ(Said(DeniedByPolicy, cancelled), "") << "somebody cancelled it";
}

TEST(DeniedByPolicy, HoldsNoControlCharacterAndNoEnd) {
  const std::string said =
      Said(DeniedByPolicy, Refused(sandbox::Denied{}, "a\x1b[2J", std::string(100'000, 'x') + "\n"));
  EXPECT_EQ(said.find('\x1b'), std::string::npos);
  EXPECT_EQ(said.find('\n'), std::string::npos);
  EXPECT_LT(said.size(), 1500U);
}

TEST(DeniedByPolicy, IsSilentOfWhatWasNotRefused) {
  EXPECT_EQ(Said(DeniedByPolicy, Refused(sandbox::Exited{1}, "r", "x")), "");
  EXPECT_EQ(Said(DeniedByPolicy, EndedCommand(sandbox::Denied{}, "")), "");
  EXPECT_EQ(Said(DeniedByPolicy, Refused(sandbox::Denied{}, "unknown_shell", "x")), "");
}

TEST(TooComplexCommand, IsOfATextThatCannotBeTold) {
  const EndedCommand refused = Refused(sandbox::Denied{}, "unknown_shell", "put it into a file");
  EXPECT_TRUE(Names(Said(TooComplexCommand, refused), "Put it into a file."));
  EXPECT_TRUE(
      Names(Said(TooComplexCommand, Refused(sandbox::NeedsApproval{"ap_x"}, "unknown_shell", "")), "plain letters"));
  EXPECT_EQ(Said(TooComplexCommand, Refused(sandbox::Denied{}, "default", "x")), "");
  EXPECT_EQ(Said(TooComplexCommand, Refused(sandbox::Exited{0}, "unknown_shell", "x")), "");
}

TEST(PolicyRules, AreAmongTheHints) {
  const EndedCommand denied = Refused(sandbox::Denied{}, "default", "");
  const auto hints = FindHints(denied.evidence());
  ASSERT_EQ(hints.size(), 1U);
  EXPECT_EQ(hints.front().code, "denied_by_policy");
}

}  // namespace
}  // namespace caisson::hint
