#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string>

#include "policy/policy_test.h"
#include "support/temp_folder.h"

// The bypass corpus under `strict`: what must be refused is, before anything starts; what names only listed programs
// has no effect beyond them; what only looks dangerous runs.

namespace caisson::support {
namespace {

struct Row {
  std::string id;
  std::string command;
  std::string verdict;
  std::string setup;
  bool needs_terminal = false;
  std::vector<std::pair<std::string, std::string>> env;
};

// Beside the test in a machine that has no sources.
std::string CorpusPath() {
  const std::string beside = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "data/bypass-corpus.jsonl";
  return std::filesystem::exists(beside) ? beside : CAISSON_CORPUS;
}

std::vector<Row> ReadCorpus() {
  std::vector<Row> rows;
  std::istringstream lines(ReadFile(CorpusPath()));
  for (std::string line; std::getline(lines, line);) {
    const boost::json::object object = boost::json::parse(line).as_object();
    const auto text = [&](const char* key) {
      return object.contains(key) ? std::string(object.at(key).as_string()) : std::string();
    };
    Row row{.id = text("id"),
            .command = text("command"),
            .verdict = text("verdict"),
            .setup = text("setup"),
            .needs_terminal = object.contains("tty"),
            .env = {}};
    if (object.contains("env")) {
      for (const auto& [name, value] : object.at("env").as_object()) row.env.emplace_back(name, value.as_string());
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

class BypassCorpus : public PolicyTest {
 protected:
  static std::string FolderOf(const Row& row) {
    return "/home/agent/workspace/" + row.id + (row.setup.empty() ? "" : "/s");
  }
  // Each in a folder of its own, which has what the commands are about.
  void Prepare(const std::vector<Row>& rows) {
    std::string script;
    for (const Row& row : rows) {
      script += "mkdir -p " + row.id + "/MARKDIR && echo x > " + row.id + "/MARKFILE || exit 1\n";
      if (row.setup.empty()) continue;
      script += "(mkdir " + row.id + "/s && cd " + row.id + "/s && " + row.setup + "\n) || { echo " + row.id +
                " >&2; exit 1; }\n";
    }
    const auto prepared = Operate(script);
    ASSERT_EQ(ExitCode(prepared), 0) << prepared.err.kept;
  }
  // The rows whose commands did what they must not.
  std::string WithEffect(const std::vector<Row>& rows) {
    std::string script = "ls -d /etc/caisson-MARK /usr/local/bin/caisson-MARK 2>/dev/null\n";
    for (const Row& row : rows) {
      script += "test -e " + FolderOf(row) + "/MARK -o -e " + row.id + "/MARK -o ! -d " + row.id + "/MARKDIR -o ! -f " +
                row.id + "/MARKFILE && echo " + row.id + "\n";
    }
    return Operate(script + "true").out.kept;
  }
};

TEST_F(BypassCorpus, UnderStrict) {
  UsePreset("strict");
  const std::vector<Row> rows = ReadCorpus();
  ASSERT_NO_FATAL_FAILURE(Prepare(rows));
  ASSERT_EQ(WithEffect(rows), "") << "before anything was tried";
  int refused = 0;
  int contained = 0;
  int allowed = 0;
  for (const Row& row : rows) {
    const Answer answer = row.needs_terminal ? AskOnTerminal(row.command, row.env, FolderOf(row))
                                             : Ask(row.command, row.env, FolderOf(row));
    if (row.verdict == "deny") {
      EXPECT_FALSE(answer.is_allowed()) << row.id << ": " << row.command << "\n" << answer.text();
      refused += answer.is_allowed() ? 0 : 1;
    } else if (row.verdict == "allow") {
      EXPECT_TRUE(answer.is_allowed()) << row.id << ": " << row.command << "\n" << answer.text();
      allowed += answer.is_allowed() ? 1 : 0;
    } else {
      ++contained;
    }
  }
  EXPECT_EQ(WithEffect(rows), "");
  std::cout << "refused " << refused << ", contained " << contained << ", allowed " << allowed << "\n";
  EXPECT_EQ(refused, 107);
  EXPECT_EQ(contained, 33);
  EXPECT_EQ(allowed, 41);
}

// The look at what a row did sees it.
TEST_F(BypassCorpus, AnEffectIsSeen) {
  UsePreset("open");
  std::vector<Row> rows = {{.id = "made", .command = "touch MARK", .verdict = "", .setup = "true", .env = {}},
                           {.id = "gone", .command = "rm -r MARKDIR", .verdict = "", .setup = "", .env = {}},
                           {.id = "kept", .command = "ls", .verdict = "", .setup = "", .env = {}}};
  ASSERT_NO_FATAL_FAILURE(Prepare(rows));
  for (const Row& row : rows) EXPECT_EQ(Ask(row.command, row.env, FolderOf(row)).exit_code(), 0) << row.id;
  EXPECT_EQ(WithEffect(rows), "made\ngone\n");
}

}  // namespace
}  // namespace caisson::support
