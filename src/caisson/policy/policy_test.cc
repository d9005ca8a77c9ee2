#include "caisson/policy/policy.h"

#include <gtest/gtest.h>

#include "caisson/policy/policy_fixture.h"

namespace caisson::policy {
namespace {

// The sample of the documentation.
constexpr std::string_view kSample = R"(version = 1
default = "ask"                        # deny | ask | allow

[[rule]]
name = "workspace"
effect = "allow"
actions = ["file.read", "file.write", "file.delete"]
paths = ["/home/agent/workspace/**", "/tmp/**"]

[[rule]]
name = "toolchain"
effect = "allow"
actions = ["process.exec"]
commands = ["ls", "cat", "grep", "python3", "pip", "git", "make"]
match = ["git status", "python3 test.py | grep ok"]        # the file fails to load when these do not hold
not_match = ["git push origin main", "ls; rm -rf x"]

[[rule]]
name = "publish"
effect = "ask"
commands = ["git push"]
reason = "publishes work"
when = { days = "mon-fri", hours = "09:00-18:00", timezone = "Europe/Berlin" }
max_uses = 1
expires_at = 2027-01-01T00:00:00Z
)";

constexpr std::string_view kSampleAsJson = R"({
"rule": [
  {"effect": "ask", "name": "publish", "commands": ["git push"], "reason": "publishes work", "max_uses": 1,
   "when": {"timezone": "Europe/Berlin", "hours": "09:00-18:00", "days": "mon-fri"},
   "expires_at": "2027-01-01T01:00:00+01:00"},
  {"name": "workspace", "effect": "allow", "actions": ["file.delete", "file.write", "file.read"],
   "paths": ["/tmp/**", "/home/agent/workspace/**"]},
  {"name": "toolchain", "effect": "allow",
   "commands": ["ls", "cat", "grep", "pip", "python3", "git", "make"]}],
"default": "ask", "version": 1})";

TEST(PolicyRead, TakesTheSample) {
  const Policy policy = PolicyOf(kSample);
  EXPECT_EQ(policy.name(), "policy.toml");
  EXPECT_EQ(policy.default_effect(), Effect::kAsk);
  EXPECT_FALSE(policy.allows_everything());
  ASSERT_EQ(policy.rules().size(), 3U);
  const Rule& publish = policy.rules()[2];
  EXPECT_EQ(publish.actions, std::vector<Action>{Action::kProcessExec});
  EXPECT_EQ(publish.commands.at(0).text(), "git push");
  EXPECT_EQ(publish.max_uses, 1U);
  EXPECT_EQ(publish.source, "policy.toml:18");
  EXPECT_EQ(publish.when->days, 0x1f);
  EXPECT_EQ(policy.text(), kSample);
}

TEST(PolicyRead, GivesOneDigestToWhatSaysTheSame) {
  const Policy toml = PolicyOf(kSample);
  EXPECT_EQ(toml.digest().size(), 64U);
  EXPECT_EQ(PolicyOf(kSampleAsJson, document::Format::kJson).digest(), toml.digest());
  std::string other(kSample);
  other.replace(other.find("publishes work"), 14, "publishes");
  EXPECT_NE(PolicyOf(other).digest(), toml.digest());
}

TEST(PolicyRead, AllowsEverythingWhenNothingIsDeniedOrAskedFor) {
  EXPECT_TRUE(PolicyOf("version = 1\ndefault = \"allow\"\n").allows_everything());
  EXPECT_FALSE(PolicyOf("version = 1\n").allows_everything());
  EXPECT_FALSE(PolicyOf("version = 1\ndefault = \"allow\"\n[[rule]]\neffect = \"ask\"\ncommands = [\"x\"]\n")
                   .allows_everything());
}

TEST(PolicyRead, NamesRulesByTheirNumber) {
  const Policy policy = PolicyOf("version = 1\n[[rule]]\neffect = \"ask\"\ncommands = [\"x\"]\n");
  EXPECT_EQ(policy.rules()[0].name, "rule 1");
}

struct Mistake {
  const char* rule;  // after `version = 1` and `[[rule]]`
  const char* message;
};

constexpr Mistake kMistakes[] = {
    {"efect = \"allow\"\ncommands = [\"x\"]", "effect"},
    {"effect = \"allow\"\ncomands = [\"x\"]", "did you mean 'commands'?"},
    {"effect = \"alow\"\ncommands = [\"x\"]", "did you mean \"allow\"?"},
    {"effect = \"allow\"", "'actions' must be given"},
    {"effect = \"allow\"\nactions = []", "'actions' must hold an action"},
    {"effect = \"allow\"\nactions = [\"file.raed\"]\npaths = [\"/a\"]", "did you mean 'file.read'?"},
    {"effect = \"allow\"\nactions = [\"file.read\"]", "'paths' must be given"},
    {"effect = \"allow\"\ncommands = [\"x\"]\npaths = [\"/a\"]", "'paths' must not be given"},
    {"effect = \"allow\"\nactions = [\"file.read\"]\npaths = [\"/a\"]\ncommands = [\"x\"]",
     "'commands' must not be given"},
    {"effect = \"allow\"\nactions = [\"file.read\"]\npaths = [\"a/b\"]", "absolute paths"},
    {"effect = \"allow\"\nactions = [\"file.read\"]\npaths = [\"/a/../b\"]", "absolute paths"},
    {"effect = \"deny\"\nactions = [\"file.read\"]\npaths = [\"/a/*.pem\"]", "enforcement = \"tool\""},
    {"effect = \"allow\"\ncommands = []", "'commands' must be given"},
    {"effect = \"allow\"\ncommands = [\"git *\"]", "plain words"},
    {"effect = \"allow\"\ncommands = [\"./x\"]", "./**"},
    {"effect = \"allow\"\ncommands = [\"x\"]\nforbid_flags = [\"force\"]", "must hold flags"},
    {"effect = \"allow\"\nactions = [\"secret.use\"]\nsecrets = [\"a-b\"]", "names of secrets"},
    {"effect = \"allow\"\nactions = [\"network.connect\"]\nhosts = [\"x\"]", "HOST:PORT"},
    {"effect = \"allow\"\nactions = [\"process.signal\"]\nmatch = [\"x\"]", "'match' must not be given"},
    {"effect = \"allow\"\nactions = [\"process.signal\"]\nforbid_flags = [\"-f\"]", "'forbid_flags' must not be given"},
    {"effect = \"allow\"\ncommands = [\"x\"]\non_end = \"stop\"", "'on_end' must not be given without 'when'"},
    {"effect = \"deny\"\ncommands = [\"x\"]\nexpires_at = 2027-01-01T00:00:00Z\non_end = \"stop\"",
     "'on_end' must not be given but with effect"},
    {"effect = \"allow\"\ncommands = [\"x\"]\nexpires_at = 2027-01-01T00:00:00Z\non_end = \"halt\"",
     "'on_end' must be"},
    {"effect = \"allow\"\ncommands = [\"x\"]\nmax_uses = 0", "'max_uses' must be a whole number from 1"},
    {"effect = \"allow\"\ncommands = [\"x\"]\nexpires_at = 2027-01-01", "no moment"},
    {"effect = \"allow\"\ncommands = [\"x\"]\nexpires_at = 2026-01-01T00:00:00Z\nnot_before = 2026-01-01T00:00:00Z",
     "must come after"},
    {"effect = \"allow\"\ncommands = [\"x\"]\nwhen = {days = \"mon-fry\", timezone = \"UTC\"}", "must be days"},
    {"effect = \"allow\"\ncommands = [\"x\"]\nwhen = {hours = \"9-17\", timezone = \"UTC\"}", "must be hours"},
    {"effect = \"allow\"\ncommands = [\"x\"]\nwhen = {hours = \"09:00-17:00\"}", "timezone"},
    {"effect = \"allow\"\ncommands = [\"x\"]\nwhen = {timezone = \"UTC\"}", "days or hours"},
    {"effect = \"allow\"\ncommands = [\"x\"]\nwhen = {days = \"mon\", timezone = \"Europe/Berln\"}", "no time zone"},
    {"effect = \"allow\"\ncommands = [\"x\"]\nwhen = {days = \"mon\", timezone = \"UTC\", hour = \"\"}", "'hours'"},
    {"effect = \"allow\"\ncommands = [\"x\"]\nenforcement = \"none\"", "must be one of"},
    {"effect = \"allow\"\ncommands = [\"x\"]\nhelpers = [\"a/b\"]", "programs"},
    {"effect = \"allow\"\ncommands = [\"x\"]\nname = \"default\"", "must be another"},
    {"effect = \"allow\"\ncommands = [\"x\"]\nname = \"\"", "1 to 100 characters"},
    {"effect = \"allow\"\ncommands = [\"x\"]\nreason = \"a\\u001bb\"", "control characters"},
    {"effect = \"allow\"\ncommands = [\"x\"]\n[[rule]]\nname = \"rule 1\"\neffect = \"deny\"\ncommands = [\"y\"]",
     "the rule at policy.toml:2 is called 'rule 1'"},
    {"effect = \"allow\"\ncommands = [\"x\"]\nmatch = [\"y\"]", "'match' of the rule 'rule 1' does not hold for 'y'"},
    {"effect = \"allow\"\ncommands = [\"x\"]\nnot_match = [\"x y\"]", "'not_match' of the rule 'rule 1' does not hold"},
};

TEST(PolicyRead, RefusesMistakesWithTheirPlace) {
  for (const Mistake& mistake : kMistakes) {
    const std::string text = "version = 1\n[[rule]]\n" + std::string(mistake.rule) + "\n";
    const auto policy = Policy::Read(text, document::Format::kToml, "policy.toml", SystemZones());
    ASSERT_FALSE(policy) << text;
    const std::string& message = policy.error().message();
    EXPECT_EQ(policy.error().code(), Code::kInvalidArgument) << text;
    EXPECT_TRUE(message.starts_with("policy.toml:")) << message;
    EXPECT_NE(message.find(mistake.message), std::string::npos) << mistake.message << "\n" << message;
  }
}

TEST(PolicyRead, RefusesMistakesAtTheTop) {
  for (const char* text :
       {"", "version = 2\n", "default = \"ask\"\n", "version = 1\ndefault = \"maybe\"\n", "version = 1\nrules = []\n",
        "version = 1\nrule = 1\n", "version = 1\nversion = 1\n", "version = 1\n[[rule]]\n", "version = \"1\"\n", "]"}) {
    EXPECT_FALSE(Policy::Read(text, document::Format::kToml, "p", SystemZones())) << text;
  }
}

TEST(PolicyRead, SaysWhichPackageBringsZones) {
  const auto policy = Policy::Read(kSample, document::Format::kToml, "p", *ZonesListedIn("/nonexistent"));
  ASSERT_FALSE(policy);
  EXPECT_EQ(policy.error().code(), Code::kUnsupported);
  EXPECT_TRUE(policy.error().message().starts_with("p:23")) << policy.error().message();
  EXPECT_NE(policy.error().remediation().find("tzdata"), std::string::npos);
}

TEST(PolicyRead, HoldsExamplesWhateverTheTime) {
  const std::string rule = "version = 1\n[[rule]]\neffect = \"allow\"\ncommands = [\"x\"]\nmax_uses = 1\n";
  PolicyOf(rule + "expires_at = 2000-01-01T00:00:00Z\nmatch = [\"x\", \"x; x\"]\n");
  // The whole policy decides: what another rule denies is no match.
  EXPECT_FALSE(Policy::Read(rule + "match = [\"x y\"]\n[[rule]]\neffect = \"deny\"\ncommands = [\"x y\"]\n",
                            document::Format::kToml, "p", SystemZones()));
  PolicyOf(rule + "not_match = [\"x y\"]\n[[rule]]\neffect = \"deny\"\ncommands = [\"x y\"]\nmatch = [\"x y\"]\n");
}

}  // namespace
}  // namespace caisson::policy
