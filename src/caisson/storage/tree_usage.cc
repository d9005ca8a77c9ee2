#include "caisson/storage/tree_usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace caisson::storage {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW | O_NOATIME;
constexpr std::uint64_t kBlock = 512;  // of st_blocks: stat(2)

// A folder on the way down: who it is, and which of its folders are still to be counted.
struct Level {
  dev_t device;
  ino_t inode;
  std::vector<std::string> folders;
};

class Walk {
 public:
  Bytes Count(const os::Fd& directory, const char* name) {
    struct stat info{};
    if (fstatat(directory.get(), name, &info, AT_SYMLINK_NOFOLLOW) != 0) return {};
    device_ = info.st_dev;
    Add(info);
    if (!S_ISDIR(info.st_mode)) return total_;
    here_.Reset(openat(directory.get(), name, kDirectory));
    if (!Enter()) return total_;
    while (!levels_.empty()) {
      if (levels_.back().folders.empty()) {
        if (!Leave()) break;
        continue;
      }
      const std::string next = std::move(levels_.back().folders.back());
      levels_.back().folders.pop_back();
      os::Fd below(openat(here_.get(), next.c_str(), kDirectory));
      if (!below.valid()) continue;
      const os::Fd above = std::exchange(here_, std::move(below));
      if (!Enter()) here_.Reset(fcntl(above.get(), F_DUPFD_CLOEXEC, 0));
    }
    return total_;
  }

 private:
  void Add(const struct stat& info) {
    // Only what has a second name is remembered.
    if (!S_ISDIR(info.st_mode) && info.st_nlink > 1 && !counted_.insert(info.st_ino).second) return;
    total_.value += static_cast<std::uint64_t>(info.st_blocks) * kBlock;
  }

  // Counts what lies directly in `here_` and notes its folders. False when it cannot be read or is another mount.
  bool Enter() {
    struct stat info{};
    if (!here_.valid() || fstat(here_.get(), &info) != 0 || info.st_dev != device_) return false;
    // Its own open file description: readdir moves the offset.
    const int again = openat(here_.get(), ".", kDirectory);
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(again < 0 ? nullptr : fdopendir(again), closedir);
    if (listing == nullptr) return false;
    Level level{info.st_dev, info.st_ino, {}};
    while (const dirent* entry = readdir(listing.get())) {
      const std::string name = entry->d_name;
      struct stat found{};
      if (name == "." || name == ".." || fstatat(here_.get(), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0)
        continue;
      if (found.st_dev != device_) continue;
      Add(found);
      if (S_ISDIR(found.st_mode)) level.folders.push_back(name);
    }
    levels_.push_back(std::move(level));
    return true;
  }

  // Goes up one level. False at the top, or when somebody has moved the folder away meanwhile: what follows would be
  // elsewhere.
  bool Leave() {
    levels_.pop_back();
    if (levels_.empty()) return false;
    here_.Reset(openat(here_.get(), "..", kDirectory));
    struct stat info{};
    return here_.valid() && fstat(here_.get(), &info) == 0 && info.st_dev == levels_.back().device &&
           info.st_ino == levels_.back().inode;
  }

  dev_t device_ = 0;
  os::Fd here_;
  std::vector<Level> levels_;
  std::set<ino_t> counted_;
  Bytes total_;
};

}  // namespace

Bytes AllocatedBy(const os::Fd& directory, const char* name) { return Walk().Count(directory, name); }

}  // namespace caisson::storage
