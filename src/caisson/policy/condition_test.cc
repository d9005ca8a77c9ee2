// Windows, dates and numbers of uses in decisions.

#include <gtest/gtest.h>

#include "caisson/policy/decide.h"
#include "caisson/policy/policy_fixture.h"

namespace caisson::policy {
namespace {

using namespace std::chrono;

Time At(int y, unsigned m, unsigned d, int hour, int minute) {
  return sys_days{year{y} / month{m} / day{d}} + hours{hour} + minutes{minute};
}

constexpr std::string_view kPublishing = R"(
version = 1
default = "deny"
[[rule]]
name = "publish"
effect = "allow"
commands = ["git push"]
when = { days = "mon-fri", hours = "09:00-18:00", timezone = "Europe/Berlin" }
max_uses = 1
expires_at = 2027-01-01T00:00:00Z
)";

Situation Now(Time now, std::uint32_t uses = 0) {
  Situation situation;
  situation.now = now;
  situation.uses = [uses](const Rule&) { return uses; };
  return situation;
}

TEST(Conditions, LetAPushPassInItsHoursOnly) {
  const Policy policy = PolicyOf(kPublishing);
  EXPECT_EQ(EffectOf(policy, "git push", Now(At(2026, 7, 1, 8, 0))), "allow");     // a Wednesday, 10:00 there
  EXPECT_EQ(EffectOf(policy, "git push", Now(At(2026, 7, 1, 6, 59))), "deny");     // 08:59
  EXPECT_EQ(EffectOf(policy, "git push", Now(At(2026, 7, 1, 7, 0))), "allow");     // 09:00
  EXPECT_EQ(EffectOf(policy, "git push", Now(At(2026, 7, 1, 16, 0))), "deny");     // 18:00
  EXPECT_EQ(EffectOf(policy, "git push", Now(At(2026, 12, 1, 16, 59))), "allow");  // 17:59 in winter
}

TEST(Conditions, LetNoPushPassOnTheWeekend) {
  const Decision decision = DecideText(PolicyOf(kPublishing), "git push", Now(At(2026, 7, 4, 10, 0)));
  EXPECT_EQ(decision.effect, Effect::kDeny);
  ASSERT_EQ(decision.findings.size(), 2U);
  EXPECT_FALSE(decision.findings[0].counts);
  EXPECT_EQ(decision.findings[0].why, "it holds mon-fri 09:00-18:00 Europe/Berlin only");
}

TEST(Conditions, LetAPushPassOnce) {
  const Policy policy = PolicyOf(kPublishing);
  const Decision first = DecideText(policy, "git push", Now(At(2026, 7, 1, 8, 0), 0));
  ASSERT_EQ(first.lent.size(), 1U);
  EXPECT_EQ(first.lent[0], &policy.rules()[0]);
  const Decision second = DecideText(policy, "git push", Now(At(2026, 7, 1, 8, 0), 1));
  EXPECT_EQ(second.effect, Effect::kDeny);
  EXPECT_TRUE(second.lent.empty());
  EXPECT_EQ(second.findings[0].why, "it was used once, which is all");
}

TEST(Conditions, LetNoSecondPushPassInOneCall) {
  EXPECT_EQ(EffectOf(PolicyOf(kPublishing), "git push a; git push b", Now(At(2026, 7, 1, 8, 0))), "deny");
}

TEST(Conditions, LetNoPushPassFromItsDateOn) {
  const Policy policy = PolicyOf(kPublishing);
  EXPECT_EQ(EffectOf(policy, "git push", Now(At(2026, 12, 31, 12, 0))), "allow");  // a Thursday
  const Decision decision = DecideText(policy, "git push", Now(At(2027, 1, 1, 12, 0)));
  EXPECT_EQ(decision.effect, Effect::kDeny);
  EXPECT_EQ(decision.findings[0].why, "it ended at 2027-01-01T00:00:00Z");
  EXPECT_EQ(WhyNotNow(policy.rules()[0], Now(At(2027, 1, 1, 0, 0) - milliseconds{1}, 1)),
            "it holds mon-fri 09:00-18:00 Europe/Berlin only");
}

TEST(Conditions, LetARuleBeginAtItsDate) {
  const Policy policy = PolicyOf(
      "version = 1\n[[rule]]\neffect = \"allow\"\ncommands = [\"ls\"]\nnot_before = 2026-07-01T00:00:00.5+02:00\n");
  const Time begin = At(2026, 6, 30, 22, 0) + milliseconds{500};
  EXPECT_EQ(EffectOf(policy, "ls", Now(begin - milliseconds{1})), "deny");
  EXPECT_EQ(EffectOf(policy, "ls", Now(begin)), "allow");
  EXPECT_EQ(WhyNotNow(policy.rules()[0], Now(At(2026, 1, 1, 0, 0))), "it holds from 2026-06-30T22:00:00.500Z");
}

// The sample of a policy that allows git, and asks before a push on weekdays: on the weekend it is no free way.
TEST(Conditions, OfARuleThatAsksOpenNothingWhenTheyDoNotHold) {
  const Policy policy = PolicyOf(R"(
version = 1
default = "ask"
[[rule]]
name = "toolchain"
effect = "allow"
commands = ["git"]
[[rule]]
name = "publish"
effect = "ask"
commands = ["git push"]
when = { days = "mon-fri", timezone = "UTC" }
max_uses = 1
)");
  EXPECT_EQ(EffectOf(policy, "git push", Now(At(2026, 7, 1, 8, 0))), "ask");
  EXPECT_EQ(DecideText(policy, "git push", Now(At(2026, 7, 1, 8, 0))).lent.size(), 1U);
  const Decision weekend = DecideText(policy, "git push", Now(At(2026, 7, 4, 8, 0)));
  EXPECT_EQ(weekend.effect, Effect::kDeny);
  EXPECT_EQ(weekend.rule, "publish");
  EXPECT_EQ(EffectOf(policy, "git push", Now(At(2026, 7, 1, 8, 0), 1)), "deny");
  EXPECT_EQ(EffectOf(policy, "git status", Now(At(2026, 7, 4, 8, 0))), "allow");
}

TEST(Conditions, SpendNoUseWithoutNeed) {
  const Policy policy = PolicyOf(R"(
version = 1
[[rule]]
effect = "allow"
commands = ["git push"]
max_uses = 1
[[rule]]
effect = "allow"
commands = ["git"]
)");
  EXPECT_TRUE(DecideText(policy, "git push", Now(At(2026, 7, 1, 8, 0))).lent.empty());
  EXPECT_EQ(EffectOf(policy, "git push; git push", Now(At(2026, 7, 1, 8, 0))), "allow");
}

// ---- on_end = "stop"

std::string Allowing(const std::string& name, const std::string& commands, const std::string& rest) {
  return "[[rule]]\nname = '" + name + "'\neffect = 'allow'\ncommands = [" + commands + "]\n" + rest + "\n";
}

constexpr const char* kUntilSix = "when = { hours = '09:00-18:00', timezone = 'UTC' }\non_end = 'stop'";
constexpr const char* kUntilFour = "expires_at = 2026-07-01T16:00:00Z\non_end = 'stop'";

TEST(OnEnd, StopsWhatRestsOnARuleWhenItsTimeIsOver) {
  const Policy policy = PolicyOf("version = 1\n" + Allowing("day", "'make'", kUntilSix) + Allowing("ls", "'ls'", "") +
                                 Allowing("short", "'git'", kUntilFour));
  const Situation now = Now(At(2026, 7, 1, 15, 0));
  const Decision make = DecideText(policy, "make", now);
  EXPECT_EQ(make.effect, Effect::kAllow);
  ASSERT_TRUE(make.stop);
  EXPECT_EQ(make.stop->at, At(2026, 7, 1, 18, 0));
  EXPECT_EQ(make.stop->rule, &policy.rules()[0]);
  EXPECT_EQ(make.lent, std::vector<const Rule*>{&policy.rules()[0]});
  const Decision both = DecideText(policy, "make | git status", now);
  ASSERT_TRUE(both.stop);
  EXPECT_EQ(both.stop->at, At(2026, 7, 1, 16, 0)) << "the first end ends the call";
  EXPECT_EQ(both.stop->rule->name, "short");
  const Decision list = DecideText(policy, "ls", now);
  EXPECT_FALSE(list.stop);
  EXPECT_TRUE(list.lent.empty());
  EXPECT_FALSE(DecideText(policy, "make; rm x", now).stop) << "it does not run";
}

TEST(OnEnd, StopsNothingThatAnotherRuleLetsGoOn) {
  const Policy longer =
      PolicyOf("version = 1\n" + Allowing("short", "'git push'", kUntilFour) + Allowing("day", "'git'", kUntilSix));
  const Situation now = Now(At(2026, 7, 1, 15, 0));
  EXPECT_EQ(DecideText(longer, "git push", now).stop->at, At(2026, 7, 1, 18, 0));
  for (const bool is_first : {true, false}) {
    const std::string ends = Allowing("day", "'git'", kUntilSix);
    const std::string goes_on = Allowing("git", "'git'", "expires_at = 2026-07-01T16:00:00Z");
    const Policy policy = PolicyOf("version = 1\n" + (is_first ? ends + goes_on : goes_on + ends));
    EXPECT_FALSE(DecideText(policy, "git push", now).stop) << "on_end = 'finish'";
  }
  EXPECT_FALSE(
      DecideText(PolicyOf("version = 1\ndefault = 'allow'\n" + Allowing("day", "'git'", kUntilSix)), "git", now).stop)
      << "the default lets it go on";
}

TEST(OnEnd, SpendsNoUseToLastLonger) {
  const Policy policy =
      PolicyOf("version = 1\n" + Allowing("once", "'git'", "max_uses = 1") + Allowing("day", "'git'", kUntilSix));
  const Decision decision = DecideText(policy, "git push", Now(At(2026, 7, 1, 15, 0)));
  ASSERT_TRUE(decision.stop);
  EXPECT_EQ(decision.stop->rule->name, "day");
}

TEST(OnEnd, OfFilesIsTheFirstOfTheRulesThatHold) {
  const auto writing = [](const std::string& path, const std::string& rest) {
    return "[[rule]]\neffect = 'allow'\nactions = ['file.write']\npaths = ['" + path + "']\n" + rest + "\n";
  };
  const Policy policy = PolicyOf("version = 1\n" + writing("/srv/a", kUntilSix) + writing("/srv/b", kUntilFour) +
                                 writing("/srv/c", "expires_at = 2026-07-01T15:30:00Z"));
  EXPECT_EQ(StopOfFiles(policy, At(2026, 7, 1, 15, 0))->at, At(2026, 7, 1, 16, 0));
  EXPECT_EQ(StopOfFiles(policy, At(2026, 7, 1, 16, 0))->at, At(2026, 7, 1, 18, 0));
  EXPECT_FALSE(StopOfFiles(policy, At(2026, 7, 1, 18, 0)));
  EXPECT_FALSE(StopOfFiles(PresetOf("standard"), At(2026, 7, 1, 15, 0)));
}

TEST(NextChange, IsTheNextOfAllRules) {
  const Policy policy = PolicyOf(kPublishing);
  EXPECT_EQ(NextChange(policy, At(2026, 7, 1, 8, 0)), At(2026, 7, 1, 16, 0));
  EXPECT_EQ(NextChange(policy, At(2026, 12, 31, 20, 0)), At(2027, 1, 1, 0, 0));
  EXPECT_EQ(NextChange(policy, At(2027, 1, 1, 0, 0)), std::nullopt);
  EXPECT_EQ(NextChange(PresetOf("standard"), At(2026, 7, 1, 8, 0)), std::nullopt);
}

}  // namespace
}  // namespace caisson::policy
