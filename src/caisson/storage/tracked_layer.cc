#include "caisson/storage/tracked_layer.h"

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "caisson/os/uapi.h"

namespace caisson::storage {
namespace {

// Whether it is the folder it was, with the same part of the lower layer in it: then what is in it is told by itself.
bool IsSameFolder(TreeReader& upper, const std::string& path, const UpperEntry& before, const FileStamp& now) {
  if (!before.stamp.IsDirectory() || !now.IsDirectory() || before.stamp.inode != now.inode) return false;
  UpperEntry entry;
  ReadOverlayMarks(upper, path, entry);
  return entry.is_opaque == before.is_opaque && entry.redirect == before.redirect;
}

std::optional<std::string> TargetOf(TreeReader& tree, const std::string& path) {
  const auto stamp = tree.Stamp(path);
  if (!stamp || !stamp->IsLink()) return std::nullopt;
  return tree.LinkTarget(path);
}

// Whether a change has a time of its own when the one before was looked at (multigrain timestamps, Linux 6.13; ext4,
// btrfs, XFS and tmpfs got them together). Otherwise it is the time of the clock tick.
bool KernelHasFineTimes() {
  const os::Fd file(memfd_create("caisson-times", MFD_CLOEXEC | os::uapi::kMemfdNoexecSeal));
  for (int i = 0; i < 16; ++i) {  // a tick may come in between
    struct stat info{};
    timespec tick{};
    if (fstat(file.get(), &info) != 0 || write(file.get(), "x", 1) != 1 || fstat(file.get(), &info) != 0 ||
        clock_gettime(CLOCK_REALTIME_COARSE, &tick) != 0) {
      return false;
    }
    if (IsLater(info.st_ctim, tick)) return true;
  }
  return false;
}

bool HasFineTimes(const struct statfs& file_system) {
  constexpr decltype(file_system.f_type) kTypes[] = {TMPFS_MAGIC, EXT4_SUPER_MAGIC, BTRFS_SUPER_MAGIC, XFS_SUPER_MAGIC};
  static const bool kernel_has = KernelHasFineTimes();
  return kernel_has && std::find(std::begin(kTypes), std::end(kTypes), file_system.f_type) != std::end(kTypes);
}

// Two ticks at most, should somebody have set the clock back.
void AwaitTickAfter(const timespec& change) {
  constexpr int kPausesPerTick = 4;
  timespec pause{};
  clock_getres(CLOCK_REALTIME_COARSE, &pause);
  pause.tv_nsec /= kPausesPerTick;
  for (int i = 0; i < 2 * kPausesPerTick; ++i) {
    timespec now{};
    if (clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0 || IsLater(now, change)) return;
    nanosleep(&pause, nullptr);
  }
}

}  // namespace

TrackedLayer::TrackedLayer(std::vector<Overlay> overlays, Start start) {
  // The deepest first: a list that is cut has the workspace in it before the rest.
  std::sort(overlays.begin(), overlays.end(),
            [](const Overlay& a, const Overlay& b) { return a.shown_at.size() > b.shown_at.size(); });
  struct statfs file_system{};
  if (!overlays.empty() && fstatfs(overlays.front().upper.get(), &file_system) == 0) {
    hides_mapped_writes_ = file_system.f_type == TMPFS_MAGIC;
    has_coarse_times_ = !HasFineTimes(file_system);
  }
  for (Overlay& overlay : overlays) {
    Tracked tracked{
        std::move(overlay.shown_at), TreeReader(std::move(overlay.upper)), TreeReader(std::move(overlay.lower)), {}};
    // The root of an overlay always lies in its upper layer, made to look like the lower one's.
    if (const auto stamp = tracked.upper.Stamp("")) tracked.seen.stamp = *stamp;
    overlays_.push_back(std::move(tracked));
  }
  if (start == Start::kNow) (void)Report(nullptr, plan::ReportScope::kEverything);
}

Result<std::vector<TrackedLayer::Overlay>> TrackedLayer::DuplicateOverlays() const {
  std::vector<Overlay> overlays;
  for (const Tracked& tracked : overlays_) {
    CAISSON_TRY(os::Fd upper, tracked.upper.DuplicateRoot());
    CAISSON_TRY(os::Fd lower, tracked.lower.DuplicateRoot());
    overlays.push_back({tracked.shown_at, std::move(upper), std::move(lower)});
  }
  return overlays;
}

plan::ChangeList TrackedLayer::Report(const ChangeWatch::Names* touched, plan::ReportScope scope) {
  plan::ChangeList list = Compare(touched, scope);
  // What could not be read looks as if it were not there, now and in the next comparison.
  for (Tracked& overlay : overlays_) {
    const bool upper_failed = overlay.upper.TakeFailure();
    if (!overlay.lower.TakeFailure() && !upper_failed) continue;
    list.truncated = true;
    incomplete_ = true;
  }
  if (!has_coarse_times_) return list;
  for (const Tracked& overlay : overlays_) AwaitTickAfter(overlay.upper.newest());
  return list;
}

plan::ChangeList TrackedLayer::Compare(const ChangeWatch::Names* touched, plan::ReportScope scope) {
  ChangeCollector changes;
  for (Tracked& overlay : overlays_) {
    overlay.upper.Refresh();
    overlay.lower.Refresh();
  }
  if (touched == nullptr || touched->lost || incomplete_) {
    ReadAll({}, changes);
    return std::move(changes).Take();
  }
  std::map<Tracked*, Paths> paths = PathsOf(*touched);
  const auto has_second_names = [](const auto& entry) { return HasSecondNames(*entry.first, entry.second); };
  if (scope == plan::ReportScope::kEverything || std::any_of(paths.begin(), paths.end(), has_second_names)) {
    std::set<std::uint64_t> written;
    for (const auto& [overlay, touched_paths] : paths) AddWrittenFiles(touched_paths, written);
    ReadAll(written, changes);
    return std::move(changes).Take();
  }
  for (Tracked& overlay : overlays_) {
    changes.Enter(overlay.shown_at);
    if (const auto found = paths.find(&overlay); found != paths.end()) ReadTouched(overlay, found->second, changes);
  }
  return std::move(changes).Take();
}

void TrackedLayer::ReadAll(const std::set<std::uint64_t>& written, ChangeCollector& changes) {
  ReadBudget budget{.entries = kMaxTrackedEntries};
  for (Tracked& overlay : overlays_) {
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
  entries_ = kMaxTrackedEntries - budget.entries;
  folders_.clear();
}

// What was touched in a folder that is not known is in one that is new, whose own name was touched.
std::map<TrackedLayer::Tracked*, TrackedLayer::Paths> TrackedLayer::PathsOf(const ChangeWatch::Names& touched) {
  if (folders_.empty()) {
    for (Tracked& overlay : overlays_) AddFolders(overlay, "", overlay.seen);
  }
  std::map<Tracked*, Paths> paths;
  for (const ChangeWatch::Touched& entry : touched.touched) {
    const auto found = folders_.find(entry.folder);
    if (found == folders_.end()) continue;
    const FolderPlace& folder = found->second;
    const std::string path = entry.name == "." ? folder.path : JoinPath(folder.path, entry.name);
    if (path.size() <= kMaxPath) paths[folder.overlay][path].is_written |= entry.written;
  }
  // Once, since of many files this is what takes the time.
  for (auto& [overlay, entries] : paths) {
    for (auto& [path, entry] : entries) entry.now = overlay->upper.Stamp(path);
  }
  return paths;
}

void TrackedLayer::AddWrittenFiles(const Paths& paths, std::set<std::uint64_t>& written) const {
  if (!hides_mapped_writes_) return;
  for (const auto& [path, entry] : paths) {
    if (entry.is_written && entry.now && entry.now->IsFile()) written.insert(entry.now->inode);
  }
}

// The kernel names the one name that was used.
bool TrackedLayer::HasSecondNames(Tracked& overlay, const Paths& paths) {
  return std::any_of(paths.begin(), paths.end(), [&](const auto& entry) {
    const auto& now = entry.second.now;
    if (now && !now->IsDirectory() && now->links > 1) return true;
    const UpperEntry* before = FindEntry(overlay.seen, entry.first);
    return before != nullptr && !before->stamp.IsDirectory() && before->stamp.links > 1;
  });
}

void TrackedLayer::ReadTouched(Tracked& overlay, const Paths& paths, ChangeCollector& changes) {
  std::set<std::uint64_t> written;
  AddWrittenFiles(paths, written);
  const ComparedOverlay compared{overlay.upper, overlay.lower, written};
  std::set<std::string> read_whole;
  const auto is_read = [&](const std::string& path) {
    for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      if (read_whole.contains(path.substr(0, slash))) return true;
    }
    return false;
  };
  for (const auto& [path, entry] : paths) {
    if (is_read(path)) continue;
    const std::optional<FileStamp>& stamp = entry.now;
    UpperEntry* const before = FindEntry(overlay.seen, path);
    if (before != nullptr && stamp && IsSameFolder(overlay.upper, path, *before, *stamp)) {
      const bool same_rights =
          before->stamp.mode == stamp->mode && before->stamp.uid == stamp->uid && before->stamp.gid == stamp->gid;
      if (!same_rights) changes.Add(path, plan::ChangeKind::kMetadata, *stamp);
      before->stamp = *stamp;
      continue;
    }
    const auto [folder_path, name] = SplitPath(path);
    UpperEntry* const folder = path.empty() ? nullptr : FindEntry(overlay.seen, folder_path);
    if (folder == nullptr || (before == nullptr && !stamp)) continue;
    read_whole.insert(path);
    std::optional<UpperEntry> after;
    ReadBudget budget{.entries = kMaxTrackedEntries - std::min(entries_, kMaxTrackedEntries)};
    const std::uint64_t room = budget.entries;
    if (stamp) after = ReadUpper(overlay.upper, path, *stamp, budget);
    if (budget.exceeded) {
      changes.Truncate();
      incomplete_ = true;
    }
    CompareEntries(compared, overlay.seen, path, before, after ? &*after : nullptr, changes);
    entries_ += room - budget.entries;
    if (before != nullptr && after && !before->stamp.IsDirectory() && !after->stamp.IsDirectory()) {
      *before = *std::move(after);
      continue;
    }
    if (before != nullptr) RemoveFolders(path, *before);
    if (folder->children == nullptr) folder->children = std::make_unique<UpperChildren>();
    folder->children->erase(name);
    if (!after) continue;
    AddFolders(overlay, path, *after);
    folder->children->emplace(name, *std::move(after));
  }
}

void TrackedLayer::AddFolders(Tracked& overlay, const std::string& path, const UpperEntry& entry) {
  if (!entry.stamp.IsDirectory()) return;
  folders_.insert_or_assign(entry.stamp.inode, FolderPlace{&overlay, path});
  if (entry.children == nullptr) return;
  for (const auto& [name, child] : *entry.children) {
    if (child.stamp.IsDirectory()) AddFolders(overlay, JoinPath(path, name), child);
  }
}

// One that was renamed is where it is now.
void TrackedLayer::RemoveFolders(const std::string& path, const UpperEntry& entry) {
  if (!entry.stamp.IsDirectory()) return;
  const auto found = folders_.find(entry.stamp.inode);
  if (found != folders_.end() && found->second.path == path) folders_.erase(found);
  if (entry.children == nullptr) return;
  for (const auto& [name, child] : *entry.children) {
    if (child.stamp.IsDirectory()) RemoveFolders(JoinPath(path, name), child);
  }
}

TrackedLayer::Sides TrackedLayer::Open(const std::string& path) {
  for (Tracked& overlay : overlays_) {
    const std::string prefix = overlay.shown_at + "/";
    if (!path.starts_with(prefix)) continue;
    const std::string inside = path.substr(prefix.size());
    const auto lower = LowerPathOf(overlay.seen, inside);
    TreeReader& now = lower ? overlay.lower : overlay.upper;
    const std::string& now_at = lower ? *lower : inside;
    return {.before = overlay.lower.OpenFile(inside),
            .after = now.OpenFile(now_at),
            .link_before = TargetOf(overlay.lower, inside),
            .link_after = TargetOf(now, now_at)};
  }
  return {};
}

}  // namespace caisson::storage
