#include "caisson/guest/smallest_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace caisson::guest {
namespace {

std::vector<std::string> SmallestOf(std::size_t most, const std::vector<std::string>& names) {
  SmallestNames smallest(most);
  for (const std::string& name : names) smallest.Add(name);
  EXPECT_EQ(smallest.left_out(), names.size() > most);
  return smallest.Take();
}

TEST(SmallestNames, AreThoseThatSortingGives) {
  std::vector<std::string> names;
  for (int i = 0; i < 500; ++i) names.push_back(std::to_string(i * 7919 % 1000));
  std::mt19937 random(7);
  for (const std::size_t most : {0U, 1U, 2U, 10U, 499U, 500U, 501U}) {
    std::shuffle(names.begin(), names.end(), random);
    std::vector<std::string> sorted = names;
    std::sort(sorted.begin(), sorted.end());
    sorted.resize(std::min(most, sorted.size()));
    EXPECT_EQ(SmallestOf(most, names), sorted) << most;
  }
}

TEST(SmallestNames, ComeInTheOrderOfTheirBytes) {
  EXPECT_EQ(SmallestOf(9, {"\xff", "a", "B", "a\n", ""}), (std::vector<std::string>{"", "B", "a", "a\n", "\xff"}));
  EXPECT_TRUE(SmallestOf(3, {}).empty());
}

}  // namespace
}  // namespace caisson::guest
