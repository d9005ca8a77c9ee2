#include "caisson/sandbox/change_tracker.h"

namespace caisson::sandbox {

ChangeSpans::Id ChangeTracker::Begin() {
  const std::lock_guard lock(mutex_);
  if (unknown_change_ || always_ || spans_.size() + unasked_ > 0) {
    const auto report = layer_.TakeReport(ScopeBeside(spans_.size()), plan::CheckRoom::kNo);
    if (report) spans_.Add(report->list);
    unknown_change_ = false;
  }
  return spans_.Begin();
}

Result<ChangeTracker::Changes> ChangeTracker::End(ChangeSpans::Id id, plan::CheckRoom check_room) {
  const std::lock_guard lock(mutex_);
  const auto report = layer_.TakeReport(ScopeBeside(spans_.size() - 1), check_room);
  if (report) spans_.Add(report->list);
  Changes changes{.list = spans_.End(id)};
  if (!report) return Fail(report.error());
  changes.disk_full = report->is_full;
  return changes;
}

void ChangeTracker::Abandon(ChangeSpans::Id id) {
  const std::lock_guard lock(mutex_);
  (void)spans_.End(id);
  unknown_change_ = true;
}

ChangeTracker::Unasked::Unasked(ChangeTracker& tracker) : tracker_(tracker) {
  const std::lock_guard lock(tracker_.mutex_);
  ++tracker_.unasked_;
}

ChangeTracker::Unasked::~Unasked() {
  const std::lock_guard lock(tracker_.mutex_);
  --tracker_.unasked_;
  tracker_.unknown_change_ = true;
}

void ChangeTracker::ExpectChangesAlways() {
  const std::lock_guard lock(mutex_);
  always_ = true;
}

}  // namespace caisson::sandbox
