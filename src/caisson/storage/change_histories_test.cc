// Random histories of an overlay: what TrackedLayer reports is compared with a walk of the whole tree before and after.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <sstream>

#include "caisson/storage/overlay_fixture.h"
#include "caisson/storage/tracked_layer.h"

namespace caisson::storage {
namespace {

namespace fs = std::filesystem;
using plan::ChangeKind;

// What a user sees of one path.
struct Sight {
  mode_t mode = 0;
  uid_t uid = 0;
  gid_t gid = 0;
  std::string content;  // or the target of a link
  timespec modified{};
  timespec changed{};
};
using Sights = std::map<std::string, Sight>;

bool SameTime(const timespec& a, const timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

Sights Walk(const std::string& root) {
  Sights sights;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string path = entry.path();
    struct stat info{};
    EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
    Sight sight{info.st_mode, info.st_uid, info.st_gid, {}, info.st_mtim, info.st_ctim};
    if (S_ISREG(info.st_mode)) {
      std::ostringstream text;
      text << std::ifstream(path).rdbuf();
      sight.content = text.str();
    } else if (S_ISLNK(info.st_mode)) {
      sight.content = fs::read_symlink(path);
    }
    sights.emplace(path.substr(root.size()), std::move(sight));
  }
  return sights;
}

// What may be reported of a path that is there before and after: must it, and as what.
void CheckStayed(const std::string& path, const Sight& before, const Sight& after,
                 const std::optional<ChangeKind>& reported) {
  const bool same_type = (before.mode & S_IFMT) == (after.mode & S_IFMT);
  if (!same_type || before.content != after.content) {
    EXPECT_EQ(reported, ChangeKind::kModified) << path << " has other content";
    return;
  }
  const bool same_rights = before.mode == after.mode && before.uid == after.uid && before.gid == after.gid;
  if (S_ISDIR(after.mode)) {
    EXPECT_EQ(reported.has_value(), !same_rights) << path << " is a folder";
    return;
  }
  if (!same_rights) {
    EXPECT_TRUE(reported == ChangeKind::kMetadata || reported == ChangeKind::kModified) << path << " has other rights";
    return;
  }
  const bool touched = !SameTime(before.modified, after.modified) || !SameTime(before.changed, after.changed);
  EXPECT_FALSE(reported && !touched) << path << " was not touched";
  EXPECT_FALSE(reported == ChangeKind::kDeleted || reported == ChangeKind::kCreated) << path << " stayed";
}

void Check(const Sights& before, const Sights& after, const plan::ChangeList& list) {
  std::map<std::string, ChangeKind> reported;
  for (const plan::Change& change : list.changes) {
    EXPECT_TRUE(reported.emplace(change.path, change.kind).second) << change.path << " is there twice";
  }
  const auto kind_of = [&](const std::string& path) -> std::optional<ChangeKind> {
    const auto found = reported.find(path);
    if (found == reported.end()) return std::nullopt;
    return found->second;
  };
  EXPECT_FALSE(list.truncated);
  for (const auto& [path, sight] : before) {
    const auto now = after.find(path);
    if (now == after.end()) {
      EXPECT_EQ(kind_of(path), ChangeKind::kDeleted) << path << " is gone";
    } else {
      CheckStayed(path, sight, now->second, kind_of(path));
    }
  }
  for (const auto& [path, sight] : after) {
    EXPECT_EQ(kind_of(path) == ChangeKind::kCreated, !before.contains(path)) << path;
  }
  for (const auto& [path, kind] : reported) EXPECT_TRUE(before.contains(path) || after.contains(path)) << path;
}

// Does to a tree what programs do, at random. What an operation cannot do, such as removing what is not there, is not
// done.
class History {
 public:
  History(std::string root, unsigned seed) : root_(std::move(root)), random_(seed) {}

  void Step() {
    const std::string a = Pick();
    const std::string b = Pick();
    std::error_code error;
    switch (Number(17)) {
      case 0:
      case 1:
        return Write(a, O_TRUNC, "content " + std::to_string(serial_++));
      case 2:
        return Write(a, O_APPEND, "more " + std::to_string(serial_++));
      case 3:
        return SameSize(a);
      case 4:
        fs::create_directories(a, error);
        return;
      case 5:
      case 6:
        fs::rename(a, b, error);
        return;
      case 7:
        fs::remove_all(a, error);
        return;
      case 8:
        fs::remove(a, error);
        return;
      case 9:
        (void)!chmod(a.c_str(), 0600 + Number(8) * 8);
        return;
      case 10:
        (void)!lchown(a.c_str(), Number(3), Number(3));
        return;
      case 11:
        (void)!symlink(("target" + std::to_string(Number(4))).c_str(), a.c_str());
        return;
      case 12:
        (void)!link(a.c_str(), b.c_str());
        return;
      case 13:
        (void)!renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE);
        return;
      case 14:
        (void)!utimensat(AT_FDCWD, a.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
        return;
      case 15:
        (void)!mkfifo(a.c_str(), 0644);
        return;
      default:
        return Replace(a);
    }
  }

 private:
  unsigned Number(unsigned below) { return static_cast<unsigned>(random_()) % below; }

  // Few names, so that the same ones are met again and again.
  std::string Pick() {
    std::string path = root_;
    const unsigned depth = 1 + Number(3);
    for (unsigned i = 0; i < depth; ++i) path += "/" + std::string(1, static_cast<char>('a' + Number(4)));
    return path;
  }

  static bool IsFile(const std::string& path) {
    struct stat info{};
    return lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
  }

  static void Write(const std::string& path, int how, const std::string& content) {
    struct stat info{};
    if (lstat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) return;
    const os::Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | how, 0644));
    if (file.valid()) (void)os::WriteAll(file.get(), content);
  }

  void SameSize(const std::string& path) {
    if (!IsFile(path) || fs::file_size(path) == 0) return;
    const os::Fd file(open(path.c_str(), O_RDWR | O_CLOEXEC));
    const char byte = static_cast<char>('A' + serial_++ % 26);
    (void)!pwrite(file.get(), &byte, 1, 0);
  }

  // As an editor saves.
  void Replace(const std::string& path) {
    const std::string temporary = root_ + "/.saved";
    Write(temporary, O_TRUNC, "saved " + std::to_string(serial_++));
    std::error_code error;
    fs::rename(temporary, path, error);
    if (error) fs::remove(temporary, error);
  }

  std::string root_;
  std::mt19937 random_;
  unsigned serial_ = 0;
};

class ChangeHistories : public OverlayFixture {
 protected:
  // `watch`: nullptr, and every report reads the whole layer; otherwise only what was touched.
  void RunHistory(unsigned seed, ChangeWatch* watch) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    History image(lower(), seed);
    for (int i = 0; i < 25; ++i) image.Step();
    MountOverlay();
    History history(merged(), seed + 1'000'000);
    std::vector<TrackedLayer::Overlay> overlays;
    overlays.push_back({"", OpenFolder(upper()), OpenFolder(lower())});
    TrackedLayer layer(std::move(overlays), TrackedLayer::Start::kNow);
    struct stat info{};
    ASSERT_EQ(stat(upper().c_str(), &info), 0);
    if (watch != nullptr) (void)watch->Take(info.st_dev);
    for (int span = 0; span < 4; ++span) {
      const Sights before = Walk(merged());
      for (int i = 0; i < 10; ++i) history.Step();
      ChangeWatch::Names touched;
      if (watch != nullptr) touched = watch->Take(info.st_dev);
      EXPECT_FALSE(touched.lost);
      const plan::ChangeList list =
          layer.Report(watch == nullptr ? nullptr : &touched, plan::ReportScope::kClosedFiles);
      Check(before, Walk(merged()), list);
    }
  }
};

constexpr unsigned kHistories = 250;

TEST_F(ChangeHistories, OnTmpfs) {
  UseTmpfs();
  for (unsigned seed = 0; seed < kHistories && !HasFailure(); ++seed) {
    Empty();
    RunHistory(seed, nullptr);
  }
}

TEST_F(ChangeHistories, OnTheFileSystemOfTemporaryFolders) {
  for (unsigned seed = kHistories; seed < 2 * kHistories && !HasFailure(); ++seed) {
    Empty();
    RunHistory(seed, nullptr);
  }
}

TEST_F(ChangeHistories, OnTmpfsByWhatWasTouched) {
  UseTmpfs();
  auto watch = ChangeWatch::Start();
  if (!watch) GTEST_SKIP() << watch.error().message();
  ASSERT_TRUE(watch->Watch(OpenFolder(upper()), OpenFolder(upper())));
  for (unsigned seed = 2 * kHistories; seed < 3 * kHistories && !HasFailure(); ++seed) {
    Empty();
    RunHistory(seed, &*watch);
  }
}

}  // namespace
}  // namespace caisson::storage
