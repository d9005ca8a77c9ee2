#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "caisson/plan/change.h"
#include "caisson/storage/upper_tree.h"

namespace caisson::storage {

// Others wait while one report is made.
inline constexpr std::uint64_t kMaxComparedBytes = std::uint64_t{256} << 20U;

// Collects changes up to the limits of plan::ChangeList.
class ChangeCollector {
 public:
  // `shown_at`: where the tree whose changes follow appears in the sandbox, "" for the root.
  void Enter(std::string shown_at) { shown_at_ = std::move(shown_at); }
  void Add(const std::string& path, plan::ChangeKind kind, const FileStamp& stamp);
  bool full() const { return list_.truncated; }
  void Truncate() { list_.truncated = true; }
  // True while what the files of one report take to compare is within kMaxComparedBytes.
  bool MayCompare(std::uint64_t bytes) {
    if (bytes > comparable_bytes_) return false;
    comparable_bytes_ -= bytes;
    return true;
  }
  plan::ChangeList Take() &&;

 private:
  std::string shown_at_;
  std::size_t bytes_ = 0;
  std::uint64_t comparable_bytes_ = kMaxComparedBytes;
  plan::ChangeList list_;
};

// One overlay whose two moments are compared.
struct ComparedOverlay {
  TreeReader& upper;
  TreeReader& lower;
  // Files that were opened for writing in between, by inode: one whose stamp is the same all the same counts as
  // modified, since a file system may not note the time of a write through a mapping.
  const std::set<std::uint64_t>& written;
};

// Tells what a user of the overlay sees differently now that its upper layer is `after` and was `before`. Both are the
// layer's root folder. Content is compared only where the lower layer still has what was there before, up to
// kMaxComparedBytes a report; otherwise a file counts as modified when it is another one or its size or time of
// modification differs.
void CompareTrees(const ComparedOverlay& overlay, const UpperEntry& before, const UpperEntry& after,
                  ChangeCollector& changes);

// The same for one entry that was `before` and is `after`; nullptr: it has none in the upper layer. `root` is the upper
// layer's root, of which everything above `path` is as it was.
void CompareEntries(const ComparedOverlay& overlay, const UpperEntry& root, const std::string& path,
                    const UpperEntry* before, const UpperEntry* after, ChangeCollector& changes);

// Where in the lower layer lies what shows at `path` of the overlay with this upper root; nothing when it lies in the
// upper layer, or nowhere.
std::optional<std::string> LowerPathOf(const UpperEntry& root, std::string_view path);

}  // namespace caisson::storage
