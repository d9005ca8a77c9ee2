#include "caisson/storage/compare_trees.h"

#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace caisson::storage {
namespace {

using plan::ChangeKind;

bool SameTime(const timespec& a, const timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

bool SameType(const FileStamp& a, const FileStamp& b) { return (a.mode & S_IFMT) == (b.mode & S_IFMT); }

bool SameRights(const FileStamp& a, const FileStamp& b) { return a.mode == b.mode && a.uid == b.uid && a.gid == b.gid; }

bool SameStamp(const FileStamp& a, const FileStamp& b) {
  return SameRights(a, b) && a.device == b.device && a.inode == b.inode && a.size == b.size &&
         SameTime(a.modified, b.modified) && SameTime(a.changed, b.changed);
}

std::optional<std::size_t> ReadFully(int file, char* buffer, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n = read(file, buffer + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::nullopt;
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

// False also when one cannot be read: a change too many is better than one too few.
bool SameContent(const os::Fd& a, const os::Fd& b) {
  if (!a.valid() || !b.valid()) return false;
  constexpr std::size_t kBlock = std::size_t{64} << 10U;
  std::vector<char> first(kBlock);
  std::vector<char> second(kBlock);
  for (std::uint64_t done = 0; done <= kMaxComparedBytes; done += kBlock) {
    const auto n = ReadFully(a.get(), first.data(), kBlock);
    const auto m = ReadFully(b.get(), second.data(), kBlock);
    if (!n || !m || *n != *m || std::memcmp(first.data(), second.data(), *n) != 0) return false;
    if (*n < kBlock) return true;
  }
  return false;
}

// Source: xattr(7); what the kernel lets a list of names or a value hold.
constexpr std::size_t kMaxAttribute = 65'536;
// Of the values of one file. One that has more counts as changed.
constexpr std::size_t kMaxAttributes = std::size_t{1} << 20U;

// The names of what a user can set with setxattr(2), access lists too. Absent when they cannot be read.
std::optional<std::set<std::string>> AttributeNames(const os::Fd& file) {
  std::string list(kMaxAttribute, '\0');
  const ssize_t size = flistxattr(file.get(), list.data(), list.size());
  if (size < 0) return errno == EOPNOTSUPP ? std::make_optional<std::set<std::string>>() : std::nullopt;
  std::set<std::string> names;
  for (std::size_t at = 0; at < static_cast<std::size_t>(size); at = list.find('\0', at) + 1) {
    std::string name = list.c_str() + at;
    if (name.starts_with("user.") || name.starts_with("system.posix_acl_")) names.insert(std::move(name));
  }
  return names;
}

bool SameAttributes(const os::Fd& a, const os::Fd& b) {
  const auto names = AttributeNames(a);
  if (!names || names != AttributeNames(b)) return false;
  std::string first(kMaxAttribute, '\0');
  std::string second(kMaxAttribute, '\0');
  std::size_t total = 0;
  for (const std::string& name : *names) {
    const ssize_t size = fgetxattr(a.get(), name.c_str(), first.data(), first.size());
    if (size < 0 || size != fgetxattr(b.get(), name.c_str(), second.data(), second.size())) return false;
    const auto bytes = static_cast<std::size_t>(size);
    total += bytes;
    if (total > kMaxAttributes || std::memcmp(first.data(), second.data(), bytes) != 0) return false;
  }
  return true;
}

// A name in the overlay at one of the two moments: its entry in the upper layer, if it has one, and the folder of the
// lower layer that shows beside it, if any.
struct Place {
  const UpperEntry* upper = nullptr;
  std::optional<std::string> lower_folder;
  std::string_view name;

  std::optional<std::string> Lower() const {
    if (!lower_folder) return std::nullopt;
    return JoinPath(*lower_folder, name);
  }
};

// What a user sees there.
struct Seen {
  std::optional<FileStamp> stamp;
  const UpperEntry* upper = nullptr;
  std::optional<std::string> lower;  // of an entry that is not in the upper layer: where it is
  std::optional<std::string> below;  // of a folder: the one of the lower layer that shows in it

  bool IsDirectory() const { return stamp && stamp->IsDirectory(); }
};

// The lower folder that shows in a folder of the upper layer. A redirect is a path from the root of the lower layer, or
// the name of another folder beside it.
std::optional<std::string> Below(const Place& place) {
  const std::string& redirect = place.upper->redirect;
  if (place.upper->is_opaque) return std::nullopt;
  if (redirect.empty()) return place.Lower();
  if (redirect.front() == '/') return redirect.substr(1);
  if (!place.lower_folder) return std::nullopt;
  return JoinPath(*place.lower_folder, redirect);
}

const UpperEntry* Find(const UpperChildren* children, std::string_view name) {
  if (children == nullptr) return nullptr;
  const auto found = children->find(name);
  return found == children->end() ? nullptr : &found->second;
}

class Comparison {
 public:
  Comparison(const ComparedOverlay& overlay, ChangeCollector& changes) : overlay_(overlay), changes_(changes) {}

  void Run(const UpperEntry& before, const UpperEntry& after) {
    Seen x{before.stamp, &before, std::nullopt, ""};
    Seen y{after.stamp, &after, std::nullopt, ""};
    if (!SameRights(before.stamp, after.stamp)) changes_.Add("", ChangeKind::kMetadata, after.stamp);
    CompareChildren("", x, y);
  }

  void RunOne(const UpperEntry& root, const std::string& path, const UpperEntry* before, const UpperEntry* after) {
    std::optional<std::string> below = "";
    const UpperEntry* folder = &root;
    std::string_view rest = path;
    for (std::size_t slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
      const std::string_view name = rest.substr(0, slash);
      folder = folder->children == nullptr ? nullptr : Find(folder->children.get(), name);
      if (folder == nullptr) return;
      below = Look(Place{folder, below, name}).below;
      rest.remove_prefix(slash + 1);
    }
    const Place x{before, below, rest};
    const Place y{after, below, rest};
    if (!IsSame(x, y)) CompareEntry(path, x, y);
  }

 private:
  Seen Look(const Place& place) {
    Seen seen;
    seen.upper = place.upper;
    if (place.upper != nullptr) {
      if (place.upper->stamp.IsWhiteout()) return seen;
      seen.stamp = place.upper->stamp;
      if (place.upper->stamp.IsDirectory()) seen.below = Below(place);
      return seen;
    }
    seen.lower = place.Lower();
    if (seen.lower) seen.stamp = overlay_.lower.Stamp(*seen.lower);
    if (seen.stamp && seen.stamp->IsWhiteout()) seen.stamp.reset();
    if (seen.IsDirectory()) seen.below = seen.lower;
    return seen;
  }

  void CompareEntry(const std::string& path, const Place& before, const Place& after) {
    if (changes_.full()) return;
    const Seen x = Look(before);
    const Seen y = Look(after);
    if (!x.stamp && !y.stamp) return;
    if (!x.stamp) {
      changes_.Add(path, ChangeKind::kCreated, *y.stamp);
    } else if (!y.stamp) {
      changes_.Add(path, ChangeKind::kDeleted, *x.stamp);
    } else if (const auto kind = Difference(path, x, y)) {
      changes_.Add(path, *kind, *y.stamp);
    }
    if (x.IsDirectory() || y.IsDirectory()) CompareChildren(path, x, y);
  }

  std::optional<ChangeKind> Difference(const std::string& path, const Seen& x, const Seen& y) {
    if (!SameType(*x.stamp, *y.stamp)) return ChangeKind::kModified;
    if (y.IsDirectory()) return RightsDifference(x, y);
    if (x.upper != nullptr && y.upper != nullptr) return UpperDifference(*x.stamp, *y.stamp);
    if (x.upper != nullptr) return ChangeKind::kModified;  // the content of before is gone
    if (!SameLowerContent(path, x, y)) return ChangeKind::kModified;
    if (!SameTime(x.stamp->modified, y.stamp->modified)) return ChangeKind::kMetadata;
    if (y.stamp->IsFile() && !SameAttributes(Open(path, x), Open(path, y))) return ChangeKind::kMetadata;
    return RightsDifference(x, y);
  }

  static std::optional<ChangeKind> RightsDifference(const Seen& x, const Seen& y) {
    if (SameRights(*x.stamp, *y.stamp)) return std::nullopt;
    return ChangeKind::kMetadata;
  }

  // Nobody has the content of before.
  std::optional<ChangeKind> UpperDifference(const FileStamp& x, const FileStamp& y) const {
    if (x.inode != y.inode || x.size != y.size || x.device != y.device || !SameTime(x.modified, y.modified)) {
      return ChangeKind::kModified;
    }
    if (y.IsFile() && overlay_.written.contains(y.inode)) return ChangeKind::kModified;
    if (!SameRights(x, y)) return ChangeKind::kMetadata;
    // Another name of the same file came or went.
    if (x.links != y.links || SameTime(x.changed, y.changed)) return std::nullopt;
    return ChangeKind::kMetadata;
  }

  bool SameLowerContent(const std::string& path, const Seen& x, const Seen& y) {
    if (y.stamp->IsLink()) return Target(path, x) == Target(path, y);
    if (!y.stamp->IsFile()) return x.stamp->device == y.stamp->device;
    if (x.stamp->size != y.stamp->size || !changes_.MayCompare(y.stamp->size)) return false;
    return SameContent(Open(path, x), Open(path, y));
  }

  std::string Target(const std::string& path, const Seen& seen) {
    return seen.upper != nullptr ? overlay_.upper.LinkTarget(path) : overlay_.lower.LinkTarget(*seen.lower);
  }
  os::Fd Open(const std::string& path, const Seen& seen) {
    return seen.upper != nullptr ? overlay_.upper.OpenFile(path) : overlay_.lower.OpenFile(*seen.lower);
  }

  // What is in neither upper folder looks the same in both, unless other folders of the lower layer show in them.
  void CompareChildren(const std::string& path, const Seen& x, const Seen& y) {
    const UpperChildren* x_children = ChildrenOf(x);
    const UpperChildren* y_children = ChildrenOf(y);
    const auto x_below = x.IsDirectory() ? x.below : std::nullopt;
    const auto y_below = y.IsDirectory() ? y.below : std::nullopt;
    std::vector<std::string> lower_names;
    std::vector<std::string_view> names;
    for (const UpperChildren* children : {x_children, y_children}) {
      if (children == nullptr) continue;
      for (const auto& [name, entry] : *children) names.push_back(name);
    }
    if (x_below != y_below) {
      for (const auto& below : {x_below, y_below}) {
        if (!below) continue;
        for (std::string& name : overlay_.lower.Names(*below)) lower_names.push_back(std::move(name));
      }
      names.insert(names.end(), lower_names.begin(), lower_names.end());
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    for (const std::string_view name : names) {
      const Place before{Find(x_children, name), x_below, name};
      const Place after{Find(y_children, name), y_below, name};
      if (!IsSame(before, after)) CompareEntry(JoinPath(path, name), before, after);
    }
  }

  static const UpperChildren* ChildrenOf(const Seen& seen) {
    return seen.upper != nullptr && seen.IsDirectory() ? seen.upper->children.get() : nullptr;
  }
  // Without a look at the file system.
  bool IsSame(const Place& before, const Place& after) const {
    if (before.upper == nullptr && after.upper == nullptr) return before.lower_folder == after.lower_folder;
    if (before.upper == nullptr || after.upper == nullptr) return false;
    const FileStamp& stamp = after.upper->stamp;
    return !stamp.IsDirectory() && SameStamp(before.upper->stamp, stamp) && !overlay_.written.contains(stamp.inode);
  }

  const ComparedOverlay& overlay_;
  ChangeCollector& changes_;
};

plan::EntryType TypeOf(const FileStamp& stamp) {
  if (stamp.IsFile()) return plan::EntryType::kFile;
  if (stamp.IsDirectory()) return plan::EntryType::kDirectory;
  return stamp.IsLink() ? plan::EntryType::kSymlink : plan::EntryType::kOther;
}

}  // namespace

void ChangeCollector::Add(const std::string& path, ChangeKind kind, const FileStamp& stamp) {
  std::string shown = shown_at_;
  if (!path.empty() || shown.empty()) shown += '/';
  shown += path;
  if (list_.changes.size() == plan::kMaxChanges || bytes_ + shown.size() > plan::kMaxChangeBytes) {
    list_.truncated = true;
    return;
  }
  bytes_ += shown.size();
  list_.changes.push_back({.path = std::move(shown),
                           .kind = kind,
                           .type = TypeOf(stamp),
                           .size_bytes = stamp.IsFile() && kind != ChangeKind::kDeleted ? stamp.size : 0});
}

plan::ChangeList ChangeCollector::Take() && {
  std::sort(list_.changes.begin(), list_.changes.end(),
            [](const plan::Change& a, const plan::Change& b) { return a.path < b.path; });
  return std::move(list_);
}

void CompareTrees(const ComparedOverlay& overlay, const UpperEntry& before, const UpperEntry& after,
                  ChangeCollector& changes) {
  Comparison(overlay, changes).Run(before, after);
}

void CompareEntries(const ComparedOverlay& overlay, const UpperEntry& root, const std::string& path,
                    const UpperEntry* before, const UpperEntry* after, ChangeCollector& changes) {
  Comparison(overlay, changes).RunOne(root, path, before, after);
}

std::optional<std::string> LowerPathOf(const UpperEntry& root, std::string_view path) {
  std::optional<std::string> below = "";
  const UpperEntry* folder = &root;
  while (true) {
    const std::size_t slash = path.find('/');
    const Place place{Find(folder->children.get(), path.substr(0, slash)), below, path.substr(0, slash)};
    if (place.upper == nullptr) {
      if (!below) return std::nullopt;
      return JoinPath(*below, path);  // nothing of the upper layer lies below
    }
    if (slash == std::string_view::npos || !place.upper->stamp.IsDirectory()) return std::nullopt;
    below = Below(place);
    folder = place.upper;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace caisson::storage
