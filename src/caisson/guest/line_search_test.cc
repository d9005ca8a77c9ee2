#include "caisson/guest/line_search.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <regex>
#include <string>
#include <vector>

#include "caisson/os/fd.h"

namespace caisson::guest {
namespace {

using Outcome = LineSearch::Outcome;
using Texts = std::vector<std::string>;

os::Fd FileOf(std::string_view content) {
  os::Fd file(memfd_create("line_search_test", MFD_CLOEXEC));
  EXPECT_TRUE(os::WriteAll(file.get(), content));
  EXPECT_EQ(lseek(file.get(), 0, SEEK_SET), 0);
  return file;
}

Deadline Patience() { return Deadline::In(std::chrono::seconds(60)); }

// Each match as "line:column:text".
Texts LinesOf(LineSearch& search, std::string_view content, std::uint64_t said_size) {
  Texts lines;
  const os::Fd file = FileOf(content);
  const Outcome outcome = search.Search(file.get(), said_size, Patience(), [&](const LineSearch::Line& line) {
    lines.push_back(std::to_string(line.number) + ":" + std::to_string(line.column) + ":" + std::string(line.text));
    return true;
  });
  EXPECT_EQ(outcome, Outcome::kSearched);
  return lines;
}

Texts LinesOf(const std::string& pattern, std::string_view content, LetterCase letters = LetterCase::kMatters) {
  LineSearch search(pattern, letters);
  EXPECT_EQ(search.pattern_error(), "");
  return LinesOf(search, content, content.size());
}

TEST(LineSearch, TellsLineAndColumnOfTheFirstMatch) {
  EXPECT_EQ(LinesOf("b+", "abb b\nno\n\nb\nxb"), (Texts{"1:2:abb b", "4:1:b", "5:2:xb"}));
  EXPECT_EQ(LinesOf("b", ""), Texts{});
  EXPECT_EQ(LinesOf("b", "\n\n"), Texts{});
  EXPECT_EQ(LinesOf("\u00e9", "caf\u00e9\r\n"), Texts{"1:4:caf\u00e9\r"});
}

TEST(LineSearch, NeverReachesOverTheEndOfALine) {
  const char* content = "one\ntwo\nthree";
  for (const char* pattern : {"one\\s+two", "one[^x]two", "(?s)one.two", "one\\ntwo", "one\\W"}) {
    EXPECT_EQ(LinesOf(pattern, content), Texts{}) << pattern;
  }
  EXPECT_EQ(LinesOf("^t.*$", content), (Texts{"2:1:two", "3:1:three"}));
  EXPECT_EQ(LinesOf("e$", content), (Texts{"1:3:one", "3:5:three"}));
  EXPECT_EQ(LinesOf("^one|three$", content), (Texts{"1:1:one", "3:1:three"}));
}

TEST(LineSearch, FindsWhatIsEmptyInEachLine) {
  for (const char* pattern : {"", "^", "x*"}) {
    EXPECT_EQ(LinesOf(pattern, "a\n\nb\n"), (Texts{"1:1:a", "2:1:", "3:1:b"})) << pattern;
  }
  EXPECT_EQ(LinesOf("$", "a\n\nb"), (Texts{"1:2:a", "2:1:", "3:2:b"}));
  EXPECT_EQ(LinesOf("^$", "a\n\nb\n"), (Texts{"2:1:"}));
}

TEST(LineSearch, IgnoresCaseWhenAsked) {
  EXPECT_EQ(LinesOf("HeLLo", "hello\nHELLO\n", LetterCase::kIgnored), (Texts{"1:1:hello", "2:1:HELLO"}));
  EXPECT_EQ(LinesOf("HeLLo", "hello\nHELLO\n"), Texts{});
}

TEST(LineSearch, SearchesFilesLargerThanItsBuffer) {
  std::string content;
  for (int i = 1; i <= 200'000; ++i) content += (i % 50'000 == 0 ? "needle " : "hay ") + std::to_string(i) + "\n";
  ASSERT_GT(content.size(), std::size_t{1} << 20U);
  EXPECT_EQ(LinesOf("^needle", content), (Texts{"50000:1:needle 50000", "100000:1:needle 100000",
                                                "150000:1:needle 150000", "200000:1:needle 200000"}));
  EXPECT_EQ(LinesOf("\\A(hay|needle)", content), Texts{"1:1:hay 1"}) << "the file begins once";
  EXPECT_EQ(LinesOf("\\d+\\n?\\z", content), Texts{}) << "the last line has an end";
}

TEST(LineSearch, SearchesLongLinesAndShortOnesAfterThem) {
  std::string content(3U << 20U, 'x');
  content += "needle\nshort needle\n";
  LineSearch search("needle", LetterCase::kMatters);
  const Texts lines = LinesOf(search, content, content.size());
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(lines[0].starts_with("1:3145729:xxx"));
  EXPECT_EQ(lines[1], "2:7:short needle");
  EXPECT_EQ(LinesOf(search, "a\nneedle", 8), Texts{"2:1:needle"}) << "the next file";
}

TEST(LineSearch, BelievesNoSize) {
  LineSearch search("b", LetterCase::kMatters);
  for (const std::uint64_t size : {0U, 1U, 4U, 100U})
    EXPECT_EQ(LinesOf(search, "a\nb\n", size), Texts{"2:1:b"}) << size;
}

TEST(LineSearch, AgreesWithAnotherImplementationOnEveryPieceOfAText) {
  const std::string content = "ab\n\nb a\naab\n\n\nba";
  for (std::size_t length = 0; length <= content.size(); ++length) {
    const std::string text = content.substr(0, length);
    for (const char* pattern : {"a", "^a", "b$", "a*", "ab|ba", "^$", "\\bb"}) {
      Texts expected;
      std::size_t begin = 0;
      for (int number = 1; begin < text.size(); ++number) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string line = text.substr(begin, end - begin);
        std::smatch match;
        if (std::regex_search(line, match, std::regex(pattern))) {
          expected.push_back(std::to_string(number) + ":" + std::to_string(match.position() + 1) + ":" + line);
        }
        begin = end + 1;
      }
      EXPECT_EQ(LinesOf(pattern, text), expected) << pattern << " in " << text;
    }
  }
}

TEST(LineSearch, LeavesOutBinaryAndHugeFiles) {
  LineSearch search("a", LetterCase::kMatters);
  const auto outcome = [&](const std::string& content, std::uint64_t size) {
    const os::Fd file = FileOf(content);
    return search.Search(file.get(), size, Patience(), [](const auto&) { return true; });
  };
  EXPECT_EQ(outcome(std::string("a\n\0", 3), 3), Outcome::kBinary);
  EXPECT_EQ(outcome(std::string(8191, 'x') + '\0', 8192), Outcome::kBinary);
  EXPECT_EQ(outcome(std::string(8192, 'x') + '\0', 8193), Outcome::kSearched);
  EXPECT_EQ(outcome("", LineSearch::kMaxFile + 1), Outcome::kTooLarge);
  EXPECT_EQ(search.Search(-1, 1, Patience(), [](const auto&) { return true; }), Outcome::kUnreadable);
}

TEST(LineSearch, StopsWhenItIsTold) {
  LineSearch search("a", LetterCase::kMatters);
  const os::Fd file = FileOf("a\na\na\n");
  int found = 0;
  EXPECT_EQ(search.Search(file.get(), 6, Patience(), [&](const auto&) { return ++found < 2; }), Outcome::kStopped);
  EXPECT_EQ(found, 2);
  const os::Fd late = FileOf("a\n");
  EXPECT_EQ(search.Search(late.get(), 2, Deadline::In(std::chrono::seconds(-1)), [](const auto&) { return true; }),
            Outcome::kStopped);
}

TEST(LineSearch, SaysWhatIsWrongWithAPattern) {
  EXPECT_EQ(LineSearch("a(b", LetterCase::kMatters).pattern_error(), "missing ): a(b");
  EXPECT_EQ(LineSearch("*", LetterCase::kMatters).pattern_error(), "no argument for repetition operator: *");
  EXPECT_NE(LineSearch("\xff", LetterCase::kMatters).pattern_error(), "");
  EXPECT_NE(LineSearch("((((a{1000}){1000}){1000})", LetterCase::kMatters).pattern_error(), "");
  EXPECT_NE(LineSearch("(a)\\1", LetterCase::kMatters).pattern_error(), "");
  EXPECT_NE(LineSearch(std::string(4000, '('), LetterCase::kMatters).pattern_error(), "");
}

}  // namespace
}  // namespace caisson::guest
