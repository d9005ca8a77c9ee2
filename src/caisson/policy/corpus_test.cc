// The bypass corpus: shell strings with what a list of ls, cat, grep, python3, pip, git and make must do with them.

#include <gtest/gtest.h>

#include <fstream>

#include "caisson/document/document.h"
#include "caisson/policy/policy_fixture.h"

namespace caisson::policy {
namespace {

struct Row {
  std::string id;
  std::string verdict;
  CommandCall call;
};

std::vector<Row> Rows() {
  std::vector<Row> rows;
  std::ifstream file(CAISSON_BYPASS_CORPUS);
  EXPECT_TRUE(file) << CAISSON_BYPASS_CORPUS;
  for (std::string line; std::getline(file, line);) {
    const auto value = document::Read(line, document::Format::kJson, "corpus");
    if (!value) {
      ADD_FAILURE() << line << ": " << value.error().message();
      continue;
    }
    document::TableReader reader(*value, "corpus");
    Row row{.id = *reader.Text("id"), .verdict = *reader.Text("verdict"), .call = {}};
    row.call.text = reader.Text("command");
    if (auto env = reader.SubTable("env")) {
      for (const std::string& name : env->RemainingKeys()) row.call.env.emplace_back(name, *env->Text(name));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// What the rows' setups make that is looked at.
Situation AfterSetup() {
  return InTree({{"/home/agent/workspace/cat", "/usr/bin/touch"},
                 {"/home/agent/workspace/bin/ls", "/usr/bin/touch"},
                 {"/usr/bin/../bin/touch", "/usr/bin/touch"},
                 {"/usr/bin/touch", "/usr/bin/touch"},
                 {"/proc/self/root/usr/bin/touch", "/usr/bin/touch"},
                 {"/usr/bin/cat", "/usr/bin/cat"},
                 {"/usr/bin/ls", "/usr/bin/ls"},
                 {"/lib64/ld-linux-x86-64.so.2", "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"}});
}

void CheckCorpus(const Policy& policy, const Situation& situation) {
  const std::vector<Row> rows = Rows();
  EXPECT_EQ(rows.size(), 181U);
  for (const Row& row : rows) {
    const Decision decision = DecideCommand(policy, row.call, situation);
    const bool allowed = decision.effect == Effect::kAllow;
    if (row.verdict == "deny") {
      EXPECT_FALSE(allowed) << row.id << ": " << *row.call.text;
    }
    if (row.verdict == "allow") {
      EXPECT_TRUE(allowed) << row.id << ": " << *row.call.text << ": " << decision.reason;
    }
    EXPECT_FALSE(decision.reason.empty()) << row.id;
    if (!allowed) {
      EXPECT_FALSE(decision.alternative.empty()) << row.id;
    }
  }
}

TEST(BypassCorpus, IsDecidedUnderStrictWithoutASandbox) { CheckCorpus(PresetOf("strict"), {}); }

TEST(BypassCorpus, IsDecidedUnderStrictInItsSandbox) { CheckCorpus(PresetOf("strict"), AfterSetup()); }

TEST(BypassCorpus, IsDecidedUnderMinimal) { CheckCorpus(PresetOf("minimal"), AfterSetup()); }

TEST(BypassCorpus, IsAllowedByOpen) {
  const Policy open = PresetOf("open");
  for (const Row& row : Rows()) EXPECT_EQ(DecideCommand(open, row.call, {}).effect, Effect::kAllow) << row.id;
}

// A list of what is denied, with everything else allowed: the denied names come through in no spelling that is known
// before the text runs, and what is not known is not let through.
TEST(BypassCorpus, RemovesNothingUnderAListOfDenials) {
  const Policy policy = PolicyOf(R"(
version = 1
default = "allow"
[[rule]]
effect = "deny"
commands = ["rm", "touch", "dd", "mkfs", "mkfs.ext4"]
)");
  for (const Row& row : Rows()) {
    const std::string kind = row.id.substr(0, row.id.rfind('-'));
    const bool names_it = kind == "compound" || kind == "expansion" || kind == "spelling" || kind == "shell-state" ||
                          kind == "wrapper" || kind == "denied-tool";
    if (row.verdict == "deny" && names_it) {
      EXPECT_EQ(DecideCommand(policy, row.call, AfterSetup()).effect, Effect::kDeny)
          << row.id << ": " << *row.call.text;
    }
    if (row.verdict == "allow") {
      const Decision decision = DecideCommand(policy, row.call, AfterSetup());
      EXPECT_EQ(decision.effect, Effect::kAllow) << row.id << ": " << *row.call.text << ": " << decision.reason;
    }
  }
}

}  // namespace
}  // namespace caisson::policy
