#include "caisson/storage/tracked_layer.h"

#include <algorithm>
#include <set>

#include "caisson/storage/compare_trees.h"

namespace caisson::storage {

TrackedLayer::TrackedLayer(std::vector<Overlay> overlays, Start start) {
  // The deepest first: a list that is cut has the workspace in it before the rest.
  std::sort(overlays.begin(), overlays.end(),
            [](const Overlay& a, const Overlay& b) { return a.shown_at.size() > b.shown_at.size(); });
  for (Overlay& overlay : overlays) {
    Tracked tracked{
        std::move(overlay.shown_at), TreeReader(std::move(overlay.upper)), TreeReader(std::move(overlay.lower)), {}};
    // The root of an overlay always lies in its upper layer, made to look like the lower one's.
    if (const auto stamp = tracked.upper.Stamp("")) tracked.seen.stamp = *stamp;
    overlays_.push_back(std::move(tracked));
  }
  if (start == Start::kNow) (void)Report();
}

plan::ChangeList TrackedLayer::Report() {
  ChangeCollector changes;
  ReadBudget budget{.entries = kMaxTrackedEntries};
  const std::set<std::uint64_t> written;
  for (Tracked& overlay : overlays_) {
    overlay.upper.Refresh();
    overlay.lower.Refresh();
    const auto root = overlay.upper.Stamp("");
    if (!root) continue;
    UpperEntry now = ReadUpper(overlay.upper, "", *root, budget);
    changes.Enter(overlay.shown_at);
    CompareTrees({overlay.upper, overlay.lower, written}, overlay.seen, now, changes);
    overlay.seen = std::move(now);
  }
  // What was not read then may be what shows now, and the other way round.
  if (budget.exceeded || incomplete_) changes.Truncate();
  incomplete_ = budget.exceeded;
  return std::move(changes).Take();
}

TrackedLayer::Sides TrackedLayer::Open(const std::string& path) {
  for (Tracked& overlay : overlays_) {
    const std::string prefix = overlay.shown_at + "/";
    if (!path.starts_with(prefix)) continue;
    const std::string inside = path.substr(prefix.size());
    return {.before = overlay.lower.OpenFile(inside), .after = overlay.upper.OpenFile(inside)};
  }
  return {};
}

}  // namespace caisson::storage
