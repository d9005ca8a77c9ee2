#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace caisson::sandbox {

// One place where two texts differ: `removed` lines from line `before` of the first, in place of which the second has
// `added` lines from line `after`. Lines count from 0.
struct LineChange {
  std::size_t before = 0;
  std::size_t removed = 0;
  std::size_t after = 0;
  std::size_t added = 0;
  bool operator==(const LineChange&) const = default;
};

struct LineDiff {
  std::vector<LineChange> changes;  // ascending, with at least one common line between two
  std::uint64_t steps = 0;          // comparisons made: the cost, also of hostile content
};

// What turns `before` into `after`, each of less than 2^30 lines. The result is always right; it is the shortest when
// no part of the texts needs more than 2 * kDiffRounds changed lines that both texts hold somewhere. After `max_steps`,
// give or take the length of the texts, what is not compared yet is replaced whole. Memory in proportion to the number
// of lines; no hash that content could collide in. Pure. Source: Myers, "An O(ND) Difference Algorithm and Its
// Variations", 1986.
inline constexpr int kDiffRounds = 256;
LineDiff DiffLines(std::span<const std::string_view> before, std::span<const std::string_view> after,
                   std::uint64_t max_steps);

}  // namespace caisson::sandbox
