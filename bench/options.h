#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "caisson/base/result.h"

namespace caisson::bench {

struct Options {
  int rounds = 150;               // of Group::kTight and kReport; kLong has a fifteenth
  int quiet_rounds = 10;          // 0: no quiet series
  std::string json_file;          // empty: no JSON
  std::vector<std::string> only;  // names of series; empty: all
  bool help = false;
};

inline constexpr std::string_view kUsage =
    "caisson-bench [--rounds N] [--quiet-rounds N] [--only NAME]... [--json FILE]\n"
    "\n"
    "Measures what a sandbox costs against what the kernel and bubblewrap take, what the report of changed\n"
    "files costs, and file work inside against outside, interleaved, and judges the promises. Needs root.\n"
    "\n"
    "  --rounds N        samples of every variant, a fifteenth of those that take long (150)\n"
    "  --quiet-rounds N  samples after a quiet second (10; 0: none)\n"
    "  --only NAME       measure this series only; may be repeated\n"
    "  --json FILE       write the numbers there; - is standard output, and the table goes to standard error\n"
    "\n"
    "Exit status: 0 every measured promise is met, 1 one is missed, a sample failed or a variant other than\n"
    "bubblewrap could not run, 2 wrong usage, 3 the report could not be written, 77 not root.\n"
    "Example: caisson-bench --rounds 300 --only engine_cold --only floor\n";

// Errors: kInvalidArgument naming the argument.
Result<Options> ParseOptions(const std::vector<std::string_view>& arguments);

}  // namespace caisson::bench
