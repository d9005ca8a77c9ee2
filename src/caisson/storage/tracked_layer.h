#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "caisson/os/fd.h"
#include "caisson/plan/change.h"
#include "caisson/plan/layer_plan.h"
#include "caisson/storage/change_watch.h"
#include "caisson/storage/compare_trees.h"
#include "caisson/storage/upper_tree.h"

namespace caisson::storage {

// The writable layer of one sandbox as it was when it was last looked at: what changed since is the difference. Holds
// up to kMaxTrackedEntries entries in memory; in a layer with more, changes can be missed, and every list says so.
// Not thread-safe.
class TrackedLayer {
 public:
  struct Overlay {
    std::string shown_at;  // where the overlay is in the sandbox: "" for the root, "/home/agent/workspace"
    os::Fd upper;          // folders, opened for reading
    os::Fd lower;
  };

  // What `overlays` hold now is what the next report compares with; with kEmptyUppers everything in them is a change.
  enum class Start { kNow, kEmptyUppers };
  TrackedLayer(std::vector<Overlay> overlays, Start start);

  // What changed since the last call, and what there is now is remembered. `touched`: what the kernel told meanwhile,
  // nullptr when it was not asked. With kClosedFiles that is all there is to read. Before Linux 6.13 it ends in a later
  // clock tick than the changes it found, so that none that follows can look the same.
  plan::ChangeList Report(const ChangeWatch::Names* touched, plan::ReportScope scope);
  // The same overlays once more, for another look at them.
  Result<std::vector<Overlay>> DuplicateOverlays() const;
  // As of the last report.
  std::uint64_t entries() const { return entries_; }

  // The two sides of what a report named, for a comparison of their content. A descriptor is invalid where there is no
  // file, a target absent where there is no symbolic link.
  struct Sides {
    os::Fd before;  // as the lower layer has it at this path
    os::Fd after;
    std::optional<std::string> link_before;
    std::optional<std::string> link_after;
  };
  Sides Open(const std::string& path);

 private:
  struct Tracked {
    std::string shown_at;
    TreeReader upper;
    TreeReader lower;
    UpperEntry seen;
  };
  // A folder of the layer, by what the kernel calls it.
  struct FolderPlace {
    Tracked* overlay;
    std::string path;
  };
  // What was touched at a path.
  struct TouchedPath {
    bool is_written = false;       // a file, opened for writing and closed
    std::optional<FileStamp> now;  // absent when nothing is there
  };
  using Paths = std::map<std::string, TouchedPath>;

  plan::ChangeList Compare(const ChangeWatch::Names* touched, plan::ReportScope scope);
  void ReadAll(const std::set<std::uint64_t>& written, ChangeCollector& changes);
  std::map<Tracked*, Paths> PathsOf(const ChangeWatch::Names& touched);
  void AddWrittenFiles(const Paths& paths, std::set<std::uint64_t>& written) const;
  static bool HasSecondNames(Tracked& overlay, const Paths& paths);
  void ReadTouched(Tracked& overlay, const Paths& paths, ChangeCollector& changes);
  void AddFolders(Tracked& overlay, const std::string& path, const UpperEntry& entry);
  void RemoveFolders(const std::string& path, const UpperEntry& entry);

  std::vector<Tracked> overlays_;
  bool hides_mapped_writes_ = false;  // its file system does not note their time
  bool has_coarse_times_ = false;     // all changes within a clock tick have the same
  std::uint64_t entries_ = 0;
  bool incomplete_ = false;                                 // of the last time it was read
  std::unordered_map<std::uint64_t, FolderPlace> folders_;  // empty until something is touched
};

inline constexpr std::uint64_t kMaxTrackedEntries = 262'144;

}  // namespace caisson::storage
