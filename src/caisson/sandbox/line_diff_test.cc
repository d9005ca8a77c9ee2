#include "caisson/sandbox/line_diff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace caisson::sandbox {
namespace {

using Lines = std::vector<std::string_view>;

constexpr std::uint64_t kPlenty = std::uint64_t{1} << 26U;

// What the changes make of `before`.
Lines Apply(const Lines& before, const Lines& after, const LineDiff& diff) {
  Lines made;
  std::size_t at = 0;
  for (const LineChange& change : diff.changes) {
    EXPECT_GE(change.before, at);
    EXPECT_GT(change.removed + change.added, 0U);
    made.insert(made.end(), before.begin() + static_cast<std::ptrdiff_t>(at),
                before.begin() + static_cast<std::ptrdiff_t>(change.before));
    EXPECT_EQ(made.size(), change.after);
    made.insert(made.end(), after.begin() + static_cast<std::ptrdiff_t>(change.after),
                after.begin() + static_cast<std::ptrdiff_t>(change.after + change.added));
    at = change.before + change.removed;
  }
  made.insert(made.end(), before.begin() + static_cast<std::ptrdiff_t>(at), before.end());
  return made;
}

std::size_t ChangedLines(const LineDiff& diff) {
  std::size_t count = 0;
  for (const LineChange& change : diff.changes) count += change.removed + change.added;
  return count;
}

// The least number of changed lines, by the table of longest common subsequences.
std::size_t LeastChanged(const Lines& before, const Lines& after) {
  std::vector<std::vector<std::size_t>> common(before.size() + 1, std::vector<std::size_t>(after.size() + 1, 0));
  for (std::size_t i = 0; i < before.size(); ++i) {
    for (std::size_t j = 0; j < after.size(); ++j) {
      common[i + 1][j + 1] = before[i] == after[j] ? common[i][j] + 1 : std::max(common[i][j + 1], common[i + 1][j]);
    }
  }
  return before.size() + after.size() - 2 * common[before.size()][after.size()];
}

Lines RandomLines(std::mt19937& random, std::size_t count, unsigned kinds) {
  static const std::vector<std::string> kAlphabet = [] {
    std::vector<std::string> names;
    for (int i = 0; i < 100; ++i) names.push_back("line " + std::to_string(i) + "\n");
    return names;
  }();
  Lines lines;
  for (std::size_t i = 0; i < count; ++i) lines.emplace_back(kAlphabet[random() % kinds]);
  return lines;
}

// Numbers as lines, from `first` on.
std::vector<std::string> Numbered(std::size_t first, std::size_t count) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < count; ++i) lines.push_back(std::to_string(first + i) + "\n");
  return lines;
}

Lines Views(const std::vector<std::string>& lines) { return {lines.begin(), lines.end()}; }

TEST(LineDiff, EqualTextsHaveNoChange) {
  const Lines lines{"a\n", "b\n", "a\n"};
  EXPECT_TRUE(DiffLines(lines, lines, kPlenty).changes.empty());
  EXPECT_TRUE(DiffLines({}, {}, kPlenty).changes.empty());
}

TEST(LineDiff, TellsWhereLinesWereAddedRemovedAndReplaced) {
  const Lines before{"a", "b", "c", "d", "e"};
  const Lines after{"new", "a", "c", "x", "y", "e"};
  const std::vector<LineChange> expected{{0, 0, 0, 1}, {1, 1, 2, 0}, {3, 1, 3, 2}};
  EXPECT_EQ(DiffLines(before, after, kPlenty).changes, expected);
}

TEST(LineDiff, AnEmptySideIsOneChange) {
  const Lines lines{"a", "a"};
  EXPECT_EQ(DiffLines({}, lines, kPlenty).changes, (std::vector<LineChange>{{0, 0, 0, 2}}));
  EXPECT_EQ(DiffLines(lines, {}, kPlenty).changes, (std::vector<LineChange>{{0, 2, 0, 0}}));
}

TEST(LineDiff, RandomTextsGiveTheLeastChange) {
  std::mt19937 random(4);
  for (int i = 0; i < 2000; ++i) {
    const unsigned kinds = 1 + static_cast<unsigned>(random() % 12);
    const Lines before = RandomLines(random, random() % 40, kinds);
    const Lines after = RandomLines(random, random() % 40, kinds);
    const LineDiff diff = DiffLines(before, after, kPlenty);
    ASSERT_EQ(Apply(before, after, diff), after) << "pair " << i;
    ASSERT_EQ(ChangedLines(diff), LeastChanged(before, after)) << "pair " << i;
  }
}

TEST(LineDiff, BeyondTheRoundsTheResultIsRightAndNotFarFromTheLeast) {
  std::mt19937 random(5);
  const Lines before = RandomLines(random, 3000, 100);
  const Lines after = RandomLines(random, 3000, 100);
  const std::size_t least = LeastChanged(before, after);
  ASSERT_GT(least, 2U * kDiffRounds) << "not beyond the rounds";
  const LineDiff diff = DiffLines(before, after, kPlenty);
  EXPECT_EQ(Apply(before, after, diff), after);
  EXPECT_LE(ChangedLines(diff), least + least / 10);
}

TEST(LineDiff, WithoutStepsTheMiddleIsReplaced) {
  const Lines before{"same", "a", "b", "c", "end"};
  const Lines after{"same", "c", "a", "b", "end"};
  EXPECT_EQ(DiffLines(before, after, 0).changes, (std::vector<LineChange>{{1, 3, 1, 3}}));
}

TEST(LineDiff, AnyNumberOfStepsGivesARightResult) {
  std::mt19937 random(6);
  const Lines before = RandomLines(random, 300, 5);
  const Lines after = RandomLines(random, 300, 5);
  const std::uint64_t all = DiffLines(before, after, kPlenty).steps;
  ASSERT_GT(all, 2000U);
  for (std::uint64_t steps = 0; steps <= all; steps += 211) {
    const LineDiff diff = DiffLines(before, after, steps);
    ASSERT_EQ(Apply(before, after, diff), after) << steps << " steps";
    ASSERT_LE(diff.steps, steps + 600) << steps << " steps";
  }
}

// Hostile pairs of the greatest length that a patch shows: their cost in comparisons, which no clock falsifies.
constexpr std::size_t kMostLines = 50'000;

TEST(LineDiff, TextsWithoutACommonLineCostNothing) {
  const auto before = Numbered(0, kMostLines);
  const auto after = Numbered(kMostLines, kMostLines);
  const LineDiff diff = DiffLines(Views(before), Views(after), kPlenty);
  EXPECT_EQ(diff.changes, (std::vector<LineChange>{{0, kMostLines, 0, kMostLines}}));
  EXPECT_EQ(diff.steps, 0U);
}

TEST(LineDiff, AReversedTextCostsABoundedNumberOfSteps) {
  const auto before = Numbered(0, kMostLines);
  auto after = before;
  std::reverse(after.begin(), after.end());
  const LineDiff diff = DiffLines(Views(before), Views(after), kPlenty);
  EXPECT_EQ(Apply(Views(before), Views(after), diff), Views(after));
  EXPECT_LE(diff.steps, kPlenty + 2 * kMostLines);
}

TEST(LineDiff, RepetitiveTextsCostABoundedNumberOfSteps) {
  for (const unsigned kinds : {2U, 3U, 10U, 100U}) {
    std::mt19937 random(kinds);
    const Lines before = RandomLines(random, kMostLines, kinds);
    const Lines after = RandomLines(random, kMostLines, kinds);
    const LineDiff diff = DiffLines(before, after, kPlenty);
    EXPECT_EQ(Apply(before, after, diff), after);
    EXPECT_LE(diff.steps, kPlenty + 2 * kMostLines);
    EXPECT_LT(ChangedLines(diff), 2 * kMostLines) << "found nothing in common";
    RecordProperty("steps_" + std::to_string(kinds), std::to_string(diff.steps));
  }
}

}  // namespace
}  // namespace caisson::sandbox
