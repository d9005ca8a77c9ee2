#include "caisson/service/line_window.h"

#include <gtest/gtest.h>

#include <vector>

namespace caisson::service {
namespace {

using Seen = LineWindow::Seen;

tool::FileText Take(std::string_view text, std::uint64_t first, std::uint64_t count, std::size_t most = 100,
                    std::size_t piece = 3) {
  LineWindow window(first, count, Bytes{most});
  bool wants_more = true;
  while (wants_more && !text.empty()) {
    wants_more = window.Feed(text.substr(0, piece));
    text.remove_prefix(std::min(piece, text.size()));
  }
  return window.Take(text.empty() ? Seen::kToTheEnd : Seen::kTheBeginning);
}

TEST(LineWindow, TakesLinesWhateverThePieces) {
  for (const std::size_t piece : {1, 2, 3, 5, 100}) {
    const auto middle = Take("one\ntwo\nthree\nfour\n", 2, 2, 100, piece);
    EXPECT_EQ(middle.bytes, "two\nthree\n") << piece;
    EXPECT_EQ(middle.first_line, 2U);
    EXPECT_EQ(middle.lines, 2U);
    EXPECT_EQ(middle.next_line, 4U);
    const auto all = Take("one\ntwo", 1, 10, 100, piece);
    EXPECT_EQ(all.bytes, "one\ntwo") << piece;
    EXPECT_EQ(all.lines, 2U);
    EXPECT_FALSE(all.next_line);
  }
}

TEST(LineWindow, EndsWithTheText) {
  EXPECT_EQ(Take("", 1, 5).lines, 0U);
  EXPECT_FALSE(Take("", 1, 5).next_line);
  const auto behind = Take("one\ntwo\n", 3, 5);
  EXPECT_EQ(behind.bytes, "");
  EXPECT_EQ(behind.lines, 0U);
  EXPECT_FALSE(behind.next_line);
  const auto exactly = Take("one\ntwo\n", 1, 2);
  EXPECT_EQ(exactly.lines, 2U);
  EXPECT_FALSE(exactly.next_line) << "there is nothing to go on with";
  EXPECT_EQ(Take("one\ntwo\nx", 1, 2).next_line, 3U);
}

TEST(LineWindow, KeepsWholeLines) {
  const auto text = Take("12345\n12345\n12345\n", 1, 3, 14);
  EXPECT_EQ(text.bytes, "12345\n12345\n");
  EXPECT_EQ(text.next_line, 3U);
  EXPECT_FALSE(text.is_cut);
}

TEST(LineWindow, CutsALineThatIsTooLongAtACharacter) {
  const auto text = Take("12\u00e9\u00e9\u00e9\nnext\n", 1, 2, 5, 2);
  EXPECT_EQ(text.bytes, "12\u00e9");
  EXPECT_TRUE(text.is_cut);
  EXPECT_EQ(text.lines, 1U);
  EXPECT_EQ(text.next_line, 2U);
}

TEST(LineWindow, SaysThatThereIsMoreThanWasSeen) {
  LineWindow window(1, 10, Bytes{100});
  EXPECT_TRUE(window.Feed("one\ntwo\n"));
  EXPECT_EQ(window.Take(Seen::kTheBeginning).next_line, 3U);
}

}  // namespace
}  // namespace caisson::service
