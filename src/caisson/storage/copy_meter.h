#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "caisson/base/result.h"
#include "caisson/storage/folder_copy.h"

namespace caisson::storage {

// Counts what a copy does, holds it to its limits and tells its caller.
class CopyMeter {
 public:
  // Both are borrowed and outlive it.
  CopyMeter(const CopyOptions& options, const std::function<bool(const CopyProgress&)>& progress);

  // Errors of all three: kConflict when the caller cancels; of the first two: kResourceExhausted naming the limit.
  Status AddEntry();
  Status AddBytes(std::uint64_t count);
  Status Finish() const;

  const CopyProgress& so_far() const { return so_far_; }

 private:
  using Clock = std::chrono::steady_clock;

  Status ReportWhenDue();

  const CopyOptions& options_;
  const std::function<bool(const CopyProgress&)>& progress_;
  CopyProgress so_far_;
  Clock::time_point due_;
};

}  // namespace caisson::storage
