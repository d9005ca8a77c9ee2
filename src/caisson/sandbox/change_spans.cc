#include "caisson/sandbox/change_spans.h"

#include <optional>

namespace caisson::sandbox {
namespace {

using plan::ChangeKind;

// What two changes of one path are together; nothing when the second undoes the first.
std::optional<ChangeKind> Together(ChangeKind first, ChangeKind second) {
  if (first == ChangeKind::kCreated) {
    if (second == ChangeKind::kDeleted) return std::nullopt;
    return ChangeKind::kCreated;
  }
  if (first == ChangeKind::kDeleted) return second == ChangeKind::kDeleted ? second : ChangeKind::kModified;
  if (second == ChangeKind::kMetadata) return first;
  return second;
}

}  // namespace

ChangeSpans::Id ChangeSpans::Begin() {
  spans_.emplace(++last_, Span{});
  return last_;
}

void ChangeSpans::Add(const plan::ChangeList& report) {
  for (auto& [id, span] : spans_) {
    span.truncated = span.truncated || report.truncated;
    for (const plan::Change& change : report.changes) AddTo(span, change);
  }
}

void ChangeSpans::AddTo(Span& span, const plan::Change& change) {
  const auto place = span.changes.find(change.path);
  if (place == span.changes.end()) {
    // Full for good: of a path that was left out nobody knows what it was when the span began.
    span.is_full = span.is_full || span.changes.size() == kMaxHeld || span.bytes + change.path.size() > kMaxHeldBytes;
    span.truncated = span.truncated || span.is_full;
    if (span.is_full) return;
    span.bytes += change.path.size();
    span.changes.emplace(change.path, change);
    return;
  }
  const auto kind = Together(place->second.kind, change.kind);
  if (!kind) {
    span.bytes -= change.path.size();
    span.changes.erase(place);
    return;
  }
  place->second = change;
  place->second.kind = *kind;
}

plan::ChangeList ChangeSpans::End(Id id) {
  plan::ChangeList list;
  const auto found = spans_.find(id);
  if (found == spans_.end()) return list;
  list.truncated = found->second.truncated;
  std::size_t bytes = 0;
  for (auto& [path, change] : found->second.changes) {
    bytes += path.size();
    if (list.changes.size() == plan::kMaxChanges || bytes > plan::kMaxChangeBytes) {
      list.truncated = true;
      break;
    }
    list.changes.push_back(std::move(change));
  }
  spans_.erase(found);
  return list;
}

}  // namespace caisson::sandbox
