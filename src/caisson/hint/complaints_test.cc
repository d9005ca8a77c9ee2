#include "caisson/hint/complaints.h"

#include <gtest/gtest.h>

#include "caisson/base/utf8.h"
#include "caisson/hint/ended_command.h"

namespace caisson::hint {
namespace {

std::string Subject(std::string_view line, std::string_view phrase) {
  const auto found = FindPhrase(line, {phrase});
  EXPECT_TRUE(found) << line;
  return found ? std::string(SubjectOf(line, *found)) : "";
}

TEST(Complaints, AreWhatAFailedCommandWroteToStandardError) {
  EXPECT_EQ(Complaints(EndedCommand(sandbox::Exited{1}, "error\n", "output\n").evidence()), "error\n");
  EXPECT_EQ(Complaints(EndedCommand(sandbox::TimedOut{}, "error\n").evidence()), "error\n");
  EXPECT_EQ(Complaints(EndedCommand(sandbox::Exited{0}, "error\n").evidence()), "");
}

TEST(Complaints, AreOnTheTerminalWhereThereIsOne) {
  EndedCommand ended(sandbox::Exited{1}, "", "error\r\n");
  ended.command.terminal = sandbox::TerminalSize{};
  EXPECT_EQ(Complaints(ended.evidence()), "error\r\n");
}

TEST(Complaints, AreBoundedToTheFirstAndTheLast) {
  EndedCommand ended(sandbox::Exited{1}, "first\n" + std::string(1U << 20U, 'x') + "\nlast\n");
  const std::string whole = Complaints(ended.evidence());
  EXPECT_LE(whole.size(), 2 * kLookedAt.value + 2);
  EXPECT_TRUE(whole.starts_with("first\n"));
  EXPECT_TRUE(whole.ends_with("x\nlast\n"));
}

TEST(Complaints, OfATruncatedStreamEndWithItsTail) {
  EndedCommand ended(sandbox::Exited{1}, "first\n" + std::string(1U << 20U, 'x'));
  ended.result.err.truncated = true;
  ended.result.err.tail = "last\n";
  ended.result.err.total_bytes += 5;
  EXPECT_TRUE(Complaints(ended.evidence()).ends_with("xxlast\n")) << "nothing is missing between";
  ended.result.err.total_bytes += 1;
  const std::string whole = Complaints(ended.evidence());
  EXPECT_TRUE(whole.ends_with("xx\nlast\n")) << "something is";
  EXPECT_LE(whole.size(), 2 * kLookedAt.value + 2);
}

TEST(LastAnswer, IsThatOfTheLastLineThatHasOne) {
  const auto parse = [](std::string_view line) -> std::optional<std::string> {
    if (!line.starts_with("n=")) return std::nullopt;
    return std::string(line.substr(2));
  };
  EXPECT_EQ(LastAnswer("n=1\nn=2\nx\n\n", parse), "2");
  EXPECT_EQ(LastAnswer("n=1\r\nx", parse), "1");
  EXPECT_EQ(LastAnswer("n=3", parse), "3");
  EXPECT_EQ(LastAnswer("n=\n", parse), "");
  EXPECT_EQ(LastAnswer("\n\n", parse), std::nullopt);
  EXPECT_EQ(LastAnswer("", parse), std::nullopt);
}

TEST(FindPhrase, TakesEitherCaseOfTheFirstLetter) {
  EXPECT_EQ(FindPhrase("x: permission denied", {"Permission denied"})->at, 3U);
  EXPECT_EQ(FindPhrase("Permission denied", {"nothing", "Permission denied"})->at, 0U);
  EXPECT_FALSE(FindPhrase("ermission denied", {"Permission denied"}));
  EXPECT_FALSE(FindPhrase("", {"Permission denied"}));
}

TEST(SubjectOf, IsThePathInTheWordsOfEachProgram) {
  constexpr std::string_view kDenied = "Permission denied";
  for (const char* line : {
           "cat: /etc/shadow: Permission denied",
           "sh: 1: cannot create /etc/shadow: Permission denied",
           "bash: line 1: /etc/shadow: Permission denied",
           "touch: cannot touch '/etc/shadow': Permission denied",
           "ls: cannot open directory \xE2\x80\x98/etc/shadow\xE2\x80\x99: Permission denied",
           "tar: /etc/shadow: Cannot open: Permission denied",
           "PermissionError: [Errno 13] Permission denied: '/etc/shadow'",
           "python3: can't open file '/etc/shadow': [Errno 13] Permission denied",
           "Error: EACCES: permission denied, open '/etc/shadow'",
           "open /etc/shadow: permission denied",
           "error: open(\"/etc/shadow\"): Permission denied",
           "make: /etc/shadow: Permission denied",
           "java.io.FileNotFoundException: /etc/shadow (Permission denied)",
           "Can't open '/etc/shadow': Permission denied at -e line 1.",
       }) {
    const std::string subject = Subject(line, kDenied);
    if (std::string_view(line).starts_with("open ")) {
      EXPECT_EQ(subject, "") << "Go names the act where others name the program: " << line;
    } else {
      EXPECT_EQ(subject, "/etc/shadow") << line;
    }
  }
  EXPECT_EQ(Subject("cat: a b: Permission denied", kDenied), "a b");
  EXPECT_EQ(Subject("cat: ./a b: Permission denied", kDenied), "./a b");
}

TEST(SubjectOf, IsEmptyWhereNothingIsNamed) {
  for (const char* line : {"Permission denied", "PermissionError: [Errno 13] Permission denied", ": Permission denied",
                           "prog: Permission denied", "'': Permission denied"}) {
    EXPECT_EQ(Subject(line, "Permission denied"), "") << line;
  }
}

TEST(Named, IsBoundedAndHarmless) {
  EXPECT_EQ(Named("jq"), "`jq`");
  EXPECT_EQ(Named("a\x1B[31m`b`\n"), "`a\\x1b[31m'b'\\n`");
  for (const std::string& hostile : {std::string(100'000, 'x'), std::string(100'000, '\x1B'), std::string(201, '\xFF'),
                                     std::string(199, 'x') + "\xE2\x82\xAC"}) {
    const std::string name = Named(hostile);
    EXPECT_LE(name.size(), 202U);
    EXPECT_TRUE(name.ends_with("...`")) << name;
    EXPECT_TRUE(IsUtf8(name));
    EXPECT_EQ(name.find('\x1B'), std::string::npos);
  }
}

}  // namespace
}  // namespace caisson::hint
