#include <gtest/gtest.h>
#include <time.h>

#include <cstdlib>

#include "caisson/cli/command_outcome.h"
#include "caisson/cli/copy_report.h"
#include "caisson/cli/daemon_start.h"
#include "caisson/cli/reply_json.h"
#include "caisson/cli/text_table.h"

namespace caisson::cli {
namespace {

TEST(TextTable, AlignsColumnsAndEscapesCells) {
  EXPECT_EQ(TextTable({"ID", "NAME", "X"}, {{"sb_1", "\x1b[2Jweb", "a"}, {"s", "\xC3\xA9", ""}, {"t"}}),
            "ID    NAME        X\n"
            "sb_1  \\x1b[2Jweb  a\n"
            "s     \xC3\xA9\n"
            "t\n");
  EXPECT_EQ(TextTable({"ID"}, {}), "ID\n");
}

TEST(LocalTime, IsThatOfTheHost) {
  setenv("TZ", "XYZ-2", 1);
  tzset();
  EXPECT_EQ(LocalTime("2027-01-31T23:30:00.125Z"), "2027-02-01 01:30:00");
  unsetenv("TZ");
  tzset();
  for (const char* text : {"", "soon", "2027-01-31", "2027-01-31T23:30:00.125+01:00"}) EXPECT_EQ(LocalTime(text), text);
}

TEST(ReplyLine, IsOneLineWithoutExponents) {
  EXPECT_EQ(ReplyLine("{\n \"cpus\": 5E-1, \"a\": [1]}\n"), "{\"cpus\":0.5,\"a\":[1]}\n");
  EXPECT_EQ(ReplyLine("{"), "");
  EXPECT_EQ(ReplyMember(R"({"a":{"b":1}})", "a"), "{\"b\":1}\n");
  EXPECT_EQ(ReplyMember(R"({"a":1})", "b"), "");
  const std::vector<std::pair<std::string, std::string>> members = {{"a", "x"}, {"b", "-"}, {"c", "{\"d\":2}"}};
  EXPECT_EQ(ReplyMembers(R"({"a":"x","b":null,"c":{"d":2}})"), members);
  EXPECT_TRUE(ReplyMembers("[]").empty());
}

client::ResultView Result(const std::string& outcome, std::optional<int> exit_code = {},
                          std::optional<std::string> signal = {}, const std::string& hint = "") {
  client::ResultView view;
  view.outcome = outcome;
  view.exit_code = exit_code;
  view.signal = std::move(signal);
  if (!hint.empty()) view.hints.push_back({hint, "m", "s"});
  return view;
}

TEST(OutcomeOf, GivesTheExitStatusOfRun) {
  const auto status = [](const client::ResultView& view) { return sandbox::ExitStatus(OutcomeOf(view)); };
  EXPECT_EQ(status(Result("exited", 3)), 3);
  EXPECT_EQ(status(Result("signaled", {}, "SIGKILL")), 137);
  EXPECT_EQ(status(Result("signaled", {}, "SIGTERM")), 143);
  EXPECT_EQ(status(Result("timed_out")), 124);
  EXPECT_EQ(status(Result("out_of_memory")), 137);
  EXPECT_EQ(status(Result("cancelled")), 130);
  EXPECT_EQ(status(Result("failed_to_start", {}, {}, "command_not_found")), 127);
  EXPECT_EQ(status(Result("failed_to_start", {}, {}, "permission_denied")), 126);
  EXPECT_EQ(status(Result("failed_to_start")), 125);
  EXPECT_EQ(status(Result("of_tomorrow")), 125);
  EXPECT_EQ(status(Result("exited")), 125) << "without a status";
}

TEST(ResultNotices, SayWhatTheOutputDoesNot) {
  EXPECT_TRUE(ResultNotices(Result("exited", 1), "ls", {}).empty());
  EXPECT_EQ(ResultNotices(Result("timed_out"), "ls", std::chrono::seconds(30)),
            std::vector<std::string>{"the command timed out after 30s"});
  const auto lines = ResultNotices(Result("failed_to_start", {}, {}, "command_not_found"), "nosuch", {});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NE(lines[0].find("nosuch"), std::string::npos);
  EXPECT_EQ(lines[1], "hint: m s");
}

TEST(CopyReport, SaysWhatIsMissing) {
  CopyReport report;
  report.Copied(1024);
  EXPECT_EQ(report.Status(), 0);
  EXPECT_EQ(report.Lines(), std::vector<std::string>{"copied 1 file, 1.0KiB"});
  for (int i = 0; i < 12; ++i) report.LeftOut("\n" + std::to_string(i), "a symbolic link");
  EXPECT_EQ(report.Status(), 1);
  EXPECT_TRUE(report.Passes(Error(Code::kNotFound, "gone")));
  EXPECT_FALSE(report.Passes(Error(Code::kUnavailable, "the connection was lost")));
  EXPECT_EQ(report.Status(), 3);
  const auto lines = report.Lines();
  ASSERT_EQ(lines.size(), 12U);
  EXPECT_EQ(lines[1], "left out '\\n0': a symbolic link");
  EXPECT_EQ(lines.back(), "and 3 more were not copied");
}

TEST(LastLines, AreFewAndSafe) {
  EXPECT_EQ(LastLines(""), "");
  EXPECT_EQ(LastLines("\n\n"), "");
  EXPECT_EQ(LastLines("one"), "one");
  EXPECT_EQ(LastLines("a\nb\nc\nd\n"), "b; c; d");
  EXPECT_EQ(LastLines("\x1b[2J\n"), "\\x1b[2J");
  EXPECT_LE(LastLines(std::string(10'000, 'x')).size(), 500U);
}

}  // namespace
}  // namespace caisson::cli
