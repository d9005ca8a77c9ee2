#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "caisson/base/result.h"

namespace caisson::demo {

// What a run of Python's unittest counted.
struct TestCounts {
  int tests = 0;
  int failed = 0;  // failures, errors and unexpected successes
  int skipped = 0;
  std::vector<std::string> failing;  // "test_x (module.Class.test_x)", in the order of the report
};

// Reads the closing lines of `python3 -m unittest` (its standard error).
// Errors: kInvalidArgument when they are not there: the run did not come to its end.
Result<TestCounts> ParseTestCounts(std::string_view output);

// "1155 tests, 0 failed, 0 skipped".
std::string CountsText(const TestCounts& counts);

}  // namespace caisson::demo
