#include "caisson/sandbox/line_diff.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

namespace caisson::sandbox {
namespace {

// A text to compare: the lines that the other text holds too, as numbers that are equal where the lines are.
struct Text {
  std::vector<std::uint32_t> ids;
  std::vector<std::size_t> lines;  // of each id, where it stands in the whole text
  std::vector<bool> changed;       // of each line of the whole text
};

// Numbers the lines of both texts and takes the lines of only one for changed at once. By sorting: a comparison costs
// no more than its shorter line, so that the whole costs text size times log(lines) whatever the content.
std::pair<Text, Text> NumberLines(std::span<const std::string_view> before, std::span<const std::string_view> after) {
  const auto line = [&](std::size_t i) { return i < before.size() ? before[i] : after[i - before.size()]; };
  std::vector<std::size_t> order(before.size() + after.size());
  std::iota(order.begin(), order.end(), 0U);
  // Ties by place: within equal lines those of `before` come first.
  std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
    const int compared = line(left).compare(line(right));
    return compared != 0 ? compared < 0 : left < right;
  });

  constexpr std::uint32_t kOnOneSide = 0;
  std::vector<std::uint32_t> ids(order.size(), kOnOneSide);
  std::uint32_t last_id = kOnOneSide;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && line(order[end]) == line(order[begin])) ++end;
    if (order[begin] < before.size() && order[end - 1] >= before.size()) {
      ++last_id;
      for (std::size_t i = begin; i < end; ++i) ids[order[i]] = last_id;
    }
    begin = end;
  }

  const auto text_of = [&](std::size_t begin, std::size_t count) {
    Text text{.ids = {}, .lines = {}, .changed = std::vector<bool>(count, false)};
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t id = ids[begin + i];
      text.changed[i] = id == kOnOneSide;
      if (id == kOnOneSide) continue;
      text.ids.push_back(id);
      text.lines.push_back(i);
    }
    return text;
  };
  return {text_of(0, before.size()), text_of(before.size(), after.size())};
}

// A part of both texts that is still to compare.
struct Box {
  std::size_t before_begin, before_end, after_begin, after_end;
  int rows() const { return static_cast<int>(before_end - before_begin); }
  int columns() const { return static_cast<int>(after_end - after_begin); }
};

enum class Side { kBegin, kEnd };

// How far one can come from one corner of a box with a number of changes: of each diagonal (lines of `before` less
// lines of `after`, counted from the corner) the most lines of `before`.
class Front {
 public:
  static constexpr int kUnreachable = -1;

  explicit Front(Side side) : side_(side) { At(0) = 0; }
  Side side() const { return side_; }
  int& At(int diagonal) { return reach_[static_cast<unsigned>(diagonal + kDiffRounds + 1)]; }

 private:
  Side side_;
  std::array<int, 2 * kDiffRounds + 3> reach_{};
};

class Comparison {
 public:
  Comparison(Text& before, Text& after, std::uint64_t max_steps)
      : before_(before), after_(after), max_steps_(max_steps) {}

  void Run();
  std::uint64_t steps() const { return steps_; }

 private:
  // Takes the lines off that are the same at the begin and at the end.
  void Trim(Box& box);
  // Every line of the box is changed.
  void Replace(const Box& box);
  // The number of lines of `before` and `after`, from the box's begin, at which to cut it in two that are compared for
  // themselves; none when there are no steps left. The box is trimmed and has lines of both.
  struct Cut {
    int rows = 0;
    int columns = 0;
  };
  std::optional<Cut> FindCut(const Box& box);
  // One change more for `front`. The cut when it meets `other`, which is `other_rounds` far; negative: cannot meet.
  std::optional<Cut> Advance(const Box& box, Front& front, int round, Front& other, int other_rounds);
  // The lines equal from the point on, away from the front's corner.
  int Slide(const Box& box, Side side, int rows, int columns);
  static Cut CutAt(const Box& box, Side side, int rows, int columns);
  // Where the front that came furthest is after the last round.
  static Cut Furthest(const Box& box, Front& from_begin, Front& from_end);

  Text& before_;
  Text& after_;
  std::uint64_t max_steps_;
  std::uint64_t steps_ = 0;
};

void Comparison::Run() {
  std::vector<Box> boxes{{0, before_.ids.size(), 0, after_.ids.size()}};
  while (!boxes.empty()) {
    Box box = boxes.back();
    boxes.pop_back();
    Trim(box);
    std::optional<Cut> cut;
    if (box.rows() > 0 && box.columns() > 0) cut = FindCut(box);
    if (!cut) {
      Replace(box);
      continue;
    }
    const std::size_t row = box.before_begin + static_cast<std::size_t>(cut->rows);
    const std::size_t column = box.after_begin + static_cast<std::size_t>(cut->columns);
    boxes.push_back({row, box.before_end, column, box.after_end});
    boxes.push_back({box.before_begin, row, box.after_begin, column});
  }
}

void Comparison::Trim(Box& box) {
  const int at_begin = Slide(box, Side::kBegin, 0, 0);
  box.before_begin += static_cast<std::size_t>(at_begin);
  box.after_begin += static_cast<std::size_t>(at_begin);
  const int at_end = Slide(box, Side::kEnd, 0, 0);
  box.before_end -= static_cast<std::size_t>(at_end);
  box.after_end -= static_cast<std::size_t>(at_end);
}

void Comparison::Replace(const Box& box) {
  for (std::size_t i = box.before_begin; i < box.before_end; ++i) before_.changed[before_.lines[i]] = true;
  for (std::size_t i = box.after_begin; i < box.after_end; ++i) after_.changed[after_.lines[i]] = true;
}

int Comparison::Slide(const Box& box, Side side, int rows, int columns) {
  const int most = std::min(box.rows() - rows, box.columns() - columns);
  int length = 0;
  for (; length < most; ++length) {
    ++steps_;
    const auto row = static_cast<unsigned>(rows + length);
    const auto column = static_cast<unsigned>(columns + length);
    const bool equal = side == Side::kBegin
                           ? before_.ids[box.before_begin + row] == after_.ids[box.after_begin + column]
                           : before_.ids[box.before_end - 1 - row] == after_.ids[box.after_end - 1 - column];
    if (!equal) break;
  }
  return length;
}

Comparison::Cut Comparison::CutAt(const Box& box, Side side, int rows, int columns) {
  if (side == Side::kBegin) return {rows, columns};
  return {box.rows() - rows, box.columns() - columns};
}

std::optional<Comparison::Cut> Comparison::Advance(const Box& box, Front& front, int round, Front& other,
                                                   int other_rounds) {
  front.At(-round - 1) = Front::kUnreachable;
  front.At(round + 1) = Front::kUnreachable;
  for (int diagonal = -round; diagonal <= round; diagonal += 2) {
    if (diagonal < -box.columns() || diagonal > box.rows()) continue;
    if (++steps_ >= max_steps_) return std::nullopt;
    int rows = Front::kUnreachable;
    const int removing = front.At(diagonal - 1);
    if (removing != Front::kUnreachable && removing < box.rows()) rows = removing + 1;
    const int adding = front.At(diagonal + 1);
    if (adding != Front::kUnreachable && adding - diagonal <= box.columns()) rows = std::max(rows, adding);
    if (rows != Front::kUnreachable) rows += Slide(box, front.side(), rows, rows - diagonal);
    front.At(diagonal) = rows;

    const int of_other = box.rows() - box.columns() - diagonal;
    if (rows == Front::kUnreachable || of_other < -other_rounds || of_other > other_rounds) continue;
    const int reached = other.At(of_other);
    if (reached != Front::kUnreachable && rows + reached >= box.rows()) {
      return CutAt(box, front.side(), rows, rows - diagonal);
    }
  }
  return std::nullopt;
}

std::optional<Comparison::Cut> Comparison::FindCut(const Box& box) {
  Front from_begin(Side::kBegin);
  Front from_end(Side::kEnd);
  constexpr int kCannotMeet = -1;
  // Both fronts are on the same diagonals after the one's or the other's turn only.
  const bool odd = (box.rows() + box.columns()) % 2 != 0;
  for (int round = 1; round <= kDiffRounds; ++round) {
    auto cut = Advance(box, from_begin, round, from_end, odd ? round - 1 : kCannotMeet);
    if (!cut) cut = Advance(box, from_end, round, from_begin, odd ? kCannotMeet : round);
    if (cut) return cut;
    if (steps_ >= max_steps_) return std::nullopt;
  }
  return Furthest(box, from_begin, from_end);
}

Comparison::Cut Comparison::Furthest(const Box& box, Front& from_begin, Front& from_end) {
  Cut best;
  int most = 0;
  for (Front* front : {&from_begin, &from_end}) {
    for (int diagonal = -kDiffRounds; diagonal <= kDiffRounds; diagonal += 2) {
      if (diagonal < -box.columns() || diagonal > box.rows()) continue;
      const int rows = front->At(diagonal);
      const int lines = 2 * rows - diagonal;
      if (rows == Front::kUnreachable || lines <= most) continue;
      most = lines;
      best = CutAt(box, front->side(), rows, rows - diagonal);
    }
  }
  return best;
}

std::vector<LineChange> Collect(const std::vector<bool>& removed, const std::vector<bool>& added) {
  std::vector<LineChange> changes;
  std::size_t before = 0;
  std::size_t after = 0;
  while (before < removed.size() || after < added.size()) {
    LineChange change{.before = before, .after = after};
    while (before < removed.size() && removed[before]) ++before;
    while (after < added.size() && added[after]) ++after;
    change.removed = before - change.before;
    change.added = after - change.after;
    if (change.removed + change.added > 0) {
      changes.push_back(change);
    } else {
      ++before;
      ++after;
    }
  }
  return changes;
}

}  // namespace

LineDiff DiffLines(std::span<const std::string_view> before, std::span<const std::string_view> after,
                   std::uint64_t max_steps) {
  auto [old_text, new_text] = NumberLines(before, after);
  Comparison comparison(old_text, new_text, max_steps);
  comparison.Run();
  return {.changes = Collect(old_text.changed, new_text.changed), .steps = comparison.steps()};
}

}  // namespace caisson::sandbox
