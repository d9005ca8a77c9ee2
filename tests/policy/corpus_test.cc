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
  // Each in a folder of its own, which has what the commands are about.
  std::string Prepare(const Row& row) {
    const std::string folder = "/home/agent/workspace/" + row.id;
    const auto made = Operate("mkdir " + row.id + " && cd " + row.id + " && mkdir MARKDIR && echo x > MARKFILE");
    EXPECT_EQ(ExitCode(made), 0);
    if (row.setup.empty()) return folder;
    const auto prepared = Operate("mkdir -p s && cd s && " + row.setup, folder);
    EXPECT_EQ(ExitCode(prepared), 0) << row.id << "\n" << prepared.err.kept;
    return folder + "/s";
  }
  bool HadEffect(const std::string& folder) {
    const std::string above = folder.ends_with("/s") ? folder + "/.." : folder;
    return ExitCode(Operate("test -e MARK -o -e " + above +
                                "/MARK -o -e /etc/caisson-MARK -o -e "
                                "/usr/local/bin/caisson-MARK -o ! -d " +
                                above + "/MARKDIR -o ! -f " + above + "/MARKFILE",
                            folder)) == 0;
  }
};

TEST_F(BypassCorpus, UnderStrict) {
  UsePreset("strict");
  int refused = 0;
  int contained = 0;
  int allowed = 0;
  for (const Row& row : ReadCorpus()) {
    const std::string folder = Prepare(row);
    const Answer answer = Ask(row.command, row.env, folder);
    EXPECT_FALSE(HadEffect(folder)) << row.id << ": " << row.command << "\n" << answer.text();
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
  std::cout << "refused " << refused << ", contained " << contained << ", allowed " << allowed << "\n";
  EXPECT_EQ(refused, 107);
  EXPECT_EQ(contained, 33);
  EXPECT_EQ(allowed, 41);
}

}  // namespace
}  // namespace caisson::support
