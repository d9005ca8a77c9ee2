#include "caisson/guard/use_ledger.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace caisson::guard {
namespace {

TEST(MemoryLedgerTest, CountsWhatIsTaken) {
  MemoryLedger ledger;
  EXPECT_EQ(*ledger.Used("a"), 0U);
  EXPECT_TRUE(*ledger.Take({{.rule = "a", .most = 3, .count = 2}}));
  EXPECT_EQ(*ledger.Used("a"), 2U);
  EXPECT_EQ(*ledger.Used("b"), 0U);
  EXPECT_FALSE(*ledger.Take({{.rule = "a", .most = 3, .count = 2}}));
  EXPECT_EQ(*ledger.Used("a"), 2U) << "what is refused is not counted";
  EXPECT_TRUE(*ledger.Take({{.rule = "a", .most = 3, .count = 1}}));
  EXPECT_FALSE(*ledger.Take({{.rule = "a", .most = 3, .count = 1}}));
}

TEST(MemoryLedgerTest, TakesAllOrNone) {
  MemoryLedger ledger;
  ASSERT_TRUE(*ledger.Take({{.rule = "b", .most = 1, .count = 1}}));
  EXPECT_FALSE(*ledger.Take({{.rule = "a", .most = 1, .count = 1}, {.rule = "b", .most = 1, .count = 1}}));
  EXPECT_EQ(*ledger.Used("a"), 0U);
  EXPECT_TRUE(*ledger.Take({{.rule = "a", .most = 1, .count = 1}, {.rule = "c", .most = 1, .count = 1}}));
  EXPECT_TRUE(*ledger.Take({})) << "nothing is left to refuse";
}

TEST(MemoryLedgerTest, GivesNoUseOfARuleWhoseMostIsLessThanWhatWasUsed) {
  MemoryLedger ledger;
  ASSERT_TRUE(*ledger.Take({{.rule = "a", .most = 5, .count = 5}}));
  EXPECT_FALSE(*ledger.Take({{.rule = "a", .most = 2, .count = 1}}));
  EXPECT_FALSE(*ledger.Take({{.rule = "b", .most = 0, .count = 1}}));
  EXPECT_FALSE(*ledger.Take({{.rule = "b", .most = 5, .count = UINT32_MAX}}));
  EXPECT_TRUE(*ledger.Take({{.rule = "b", .most = UINT32_MAX, .count = UINT32_MAX}}));
  EXPECT_FALSE(*ledger.Take({{.rule = "b", .most = UINT32_MAX, .count = 1}})) << "it does not begin anew";
}

TEST(MemoryLedgerTest, GivesEachUseOnce) {
  MemoryLedger ledger;
  constexpr std::uint32_t kMost = 7;
  std::atomic<std::uint32_t> taken = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 50; ++i) {
    threads.emplace_back([&] {
      const auto is_taken = ledger.Take({{.rule = "other" + std::to_string(taken), .most = 100, .count = 1},
                                         {.rule = "a", .most = kMost, .count = 1}});
      if (is_taken && *is_taken) ++taken;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, kMost);
  EXPECT_EQ(*ledger.Used("a"), kMost);
}

}  // namespace
}  // namespace caisson::guard
