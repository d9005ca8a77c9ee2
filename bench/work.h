#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/base/result.h"

namespace caisson::bench {

enum class WorkKind {
  kChange,  // makes or overwrites `files` small files, then keeps busy until `lasts` have passed since its start
  kRemove,  // removes those files
  kWrite,   // writes one new file of `bytes` in blocks, without fsync(2): a sandbox's overlay ignores it
  kRead,    // writes such a file, then reads it from the page cache
};

// What bench-work does to a folder, inside a sandbox or outside.
struct Work {
  WorkKind kind = WorkKind::kChange;
  std::uint64_t files = 0;
  std::chrono::microseconds lasts{};
  std::uint64_t bytes = 0;
  std::uint64_t block_bytes = 0;

  bool operator==(const Work&) const = default;
};

// How bench-work is told: its arguments without its own name. It prints the nanoseconds of processor time that the work
// took, without what prepares it: by the wall's clock a busy host would decide, which gives a sandbox and a process
// outside different shares. Waiting for a disk is not in it.
struct WorkOrder {
  Work work;
  std::string folder;  // made if it is missing
};
std::vector<std::string> FormatOrder(const WorkOrder& order);
// Errors: kInvalidArgument naming the argument.
Result<WorkOrder> ParseOrder(const std::vector<std::string_view>& arguments);

// What bench-work prints. Errors: kInternal when it is no number.
std::string FormatWorkTime(std::chrono::nanoseconds time);
Result<std::chrono::nanoseconds> ParseWorkTime(std::string_view printed);

}  // namespace caisson::bench
