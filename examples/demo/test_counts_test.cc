#include "test_counts.h"

#include <gtest/gtest.h>

namespace caisson::demo {
namespace {

TEST(TestCounts, ReadsARunWithoutFailures) {
  const Result<TestCounts> counts = ParseTestCounts("..\n-----\nRan 1155 tests in 1.946s\n\nOK\n");
  ASSERT_TRUE(counts);
  EXPECT_EQ(CountsText(*counts), "1155 tests, 0 failed, 0 skipped");
  EXPECT_TRUE(counts->failing.empty());
}

TEST(TestCounts, ReadsSkippedTests) {
  const Result<TestCounts> counts = ParseTestCounts("Ran 90 tests in 0.051s\n\nOK (skipped=3)");
  ASSERT_TRUE(counts);
  EXPECT_EQ(CountsText(*counts), "90 tests, 0 failed, 3 skipped");
}

TEST(TestCounts, AddsFailuresErrorsAndUnexpectedSuccessesAndNamesTheTests) {
  const Result<TestCounts> counts = ParseTestCounts(
      "FAIL: test_a (tests.A.test_a)\nERROR: test_b (tests.B.test_b)\nRan 9 tests in 1s\n\n"
      "FAILED (failures=1, errors=1, skipped=2, expected failures=4, unexpected successes=1)\n");
  ASSERT_TRUE(counts);
  EXPECT_EQ(CountsText(*counts), "9 tests, 3 failed, 2 skipped");
  EXPECT_EQ(counts->failing, (std::vector<std::string>{"test_a (tests.A.test_a)", "test_b (tests.B.test_b)"}));
}

TEST(TestCounts, RefusesARunWithoutItsEnd) {
  for (const char* output : {"", "OK\n", "Ran 9 tests in 1s\n", "Ran x tests\n\nOK\n"}) {
    const Result<TestCounts> counts = ParseTestCounts(output);
    ASSERT_FALSE(counts) << output;
    EXPECT_EQ(counts.error().code(), Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace caisson::demo
