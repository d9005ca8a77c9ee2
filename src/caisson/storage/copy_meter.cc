#include "caisson/storage/copy_meter.h"

#include <string>

namespace caisson::storage {
namespace {

Error OverLimit(const std::string& limit) {
  return Error(Code::kResourceExhausted, "the folder is too large to copy: it holds more than " + limit)
      .Remedy("copy a smaller folder, or raise the limit");
}

}  // namespace

CopyMeter::CopyMeter(const CopyOptions& options, const std::function<bool(const CopyProgress&)>& progress)
    : options_(options), progress_(progress), due_(Clock::now() + options.progress_interval) {}

Status CopyMeter::AddEntry() {
  if (so_far_.entries >= options_.max_entries) {
    return Fail(OverLimit(std::to_string(options_.max_entries) + " entries"));
  }
  ++so_far_.entries;
  return ReportWhenDue();
}

Status CopyMeter::AddBytes(std::uint64_t count) {
  if (count > options_.max_bytes.value - so_far_.bytes.value) return Fail(OverLimit(FormatBytes(options_.max_bytes)));
  so_far_.bytes.value += count;
  return ReportWhenDue();
}

Status CopyMeter::ReportWhenDue() {
  if (!progress_) return {};
  const Clock::time_point now = Clock::now();
  if (now < due_) return {};
  due_ = now + options_.progress_interval;
  return Finish();
}

Status CopyMeter::Finish() const {
  if (!progress_ || progress_(so_far_)) return {};
  return Fail(Error(Code::kConflict, "the copy of a folder was cancelled"));
}

}  // namespace caisson::storage
