#include "caisson/cli/policy_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>

#include "caisson/policy/zone.h"

namespace caisson::cli {
namespace {

policy::Policy PolicyOf(std::string_view rules) {
  auto policy = policy::Policy::Read("version = 1\ndefault = 'deny'\n" + std::string(rules), document::Format::kToml,
                                     "p\x1b.toml", policy::SystemZones());
  if (!policy) ADD_FAILURE() << policy.error().message();
  return policy ? *std::move(policy) : *policy::Policy::Preset("open");
}

boost::json::object Parsed(const std::string& line) {
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << "one line";
  EXPECT_TRUE(line.ends_with('\n'));
  return boost::json::parse(line).as_object();
}

bool IsPrintable(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '\n' || static_cast<unsigned char>(c) >= ' '; });
}

TEST(PolicyText, SaysWhatItIsAndWhatBinds) {
  const std::string text =
      PolicyText(PolicyOf("[[rule]]\nname = 'look'\neffect = 'allow'\ncommands = ['ls', 'git log']\n"));
  EXPECT_NE(text.find(".toml is right: 1 rules, otherwise deny\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  the kernel lets only the programs that are named run"), std::string::npos) << text;
  EXPECT_NE(text.find("the rule 'look'"), std::string::npos) << text;
  EXPECT_TRUE(IsPrintable(text)) << text;
}

TEST(PolicyJson, HoldsEveryRule) {
  const policy::Policy policy = PolicyOf(
      "[[rule]]\nname = 'look'\neffect = 'allow'\ncommands = ['ls', 'git log', './**']\nreason = \"it's fine\"\n"
      "[[rule]]\neffect = 'ask'\nenforcement = 'tool'\nactions = ['file.read', 'file.delete']\npaths = ['/srv/*']\n");
  const boost::json::object object = Parsed(PolicyJson(policy));
  EXPECT_EQ(object.at("name").as_string(), policy.name());
  EXPECT_EQ(object.at("digest").as_string(), policy.digest());
  EXPECT_EQ(object.at("default").as_string(), "deny");
  ASSERT_EQ(object.at("rules").as_array().size(), 2U);
  const boost::json::object& first = object.at("rules").as_array()[0].as_object();
  EXPECT_EQ(first.at("name").as_string(), "look");
  EXPECT_EQ(first.at("effect").as_string(), "allow");
  EXPECT_EQ(first.at("actions"), (boost::json::array{"process.exec"}));
  EXPECT_EQ(first.at("commands"), (boost::json::array{"ls", "git log", "./**"}));
  EXPECT_EQ(first.at("enforcement").as_string(), "kernel");
  EXPECT_EQ(first.at("reason").as_string(), "it's fine");
  const boost::json::object& second = object.at("rules").as_array()[1].as_object();
  EXPECT_EQ(second.at("name").as_string(), "rule 2");
  EXPECT_EQ(second.at("actions"), (boost::json::array{"file.read", "file.delete"}));
  EXPECT_EQ(second.at("enforcement").as_string(), "tool");
  EXPECT_TRUE(second.at("reason").is_null());
  EXPECT_GE(object.at("enforcement").as_array().size(), 2U);
}

TEST(DecisionJson, SaysWhatDecidedAndWhatWasFound) {
  policy::Decision decision;
  decision.effect = policy::Effect::kAsk;
  decision.rule = "push";
  decision.source = "policy.toml:3";
  decision.reason = "a \"reason\"\n";
  decision.findings.push_back({.subject = "git push",
                               .rule = {},
                               .source = {},
                               .effect = policy::Effect::kDeny,
                               .counts = false,
                               .why = "not now"});
  EXPECT_EQ(DecisionJson(decision),
            "{\"effect\":\"ask\",\"rule\":\"push\",\"source\":\"policy.toml:3\",\"reason\":\"a \\\"reason\\\"\\n\","
            "\"alternative\":null,\"findings\":[{\"subject\":\"git push\",\"rule\":null,\"source\":null,"
            "\"effect\":\"deny\",\"counts\":false,\"why\":\"not now\"}]}\n");
}

std::vector<CaseResult> Results() {
  CaseResult wrong;
  wrong.one = {.line = 7, .expected = policy::Effect::kAllow, .command = "rm \x1b[2J"};
  wrong.decision.effect = policy::Effect::kDeny;
  wrong.decision.rule = "default";
  CaseResult right;
  right.one = {.line = 8, .expected = policy::Effect::kAsk, .command = "ls"};
  right.decision.effect = policy::Effect::kAsk;
  return {wrong, right};
}

TEST(CasesText, NamesWhatWasDecidedOtherwise) {
  EXPECT_EQ(CasesText(Results()),
            "line 7: expected allow, decided deny by default: rm \\x1b[2J\n"
            "2 commands, 1 decided otherwise than expected\n");
  EXPECT_EQ(CasesText({}), "0 commands, 0 decided otherwise than expected\n");
}

TEST(CasesJson, HoldsEveryCase) {
  const boost::json::object object = Parsed(CasesJson(Results()));
  const boost::json::array& cases = object.at("cases").as_array();
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0].at("line").to_number<int>(), 7);
  EXPECT_EQ(cases[0].at("command").as_string(), "rm \x1b[2J");
  EXPECT_EQ(cases[0].at("expected").as_string(), "allow");
  EXPECT_EQ(cases[0].at("decision").at("effect").as_string(), "deny");
  EXPECT_EQ(cases[1].at("decision").at("effect").as_string(), "ask");
}

// What a file of commands holds need not be text.
TEST(CasesJson, IsJsonWhateverACommandHolds) {
  std::vector<CaseResult> results = Results();
  results[0].one.command = "echo \xFF\xC3";
  EXPECT_EQ(Parsed(CasesJson(results)).at("cases").as_array().size(), 2U);
}

}  // namespace
}  // namespace caisson::cli
