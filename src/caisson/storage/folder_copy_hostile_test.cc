#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <utility>

#include "caisson/storage/folder_copy.h"
#include "caisson/storage/folder_copy_fixture.h"
#include "caisson/storage/remove_tree.h"

namespace caisson::storage {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

// Depth, mounts and a source that changes under the copy.
class HostileFolderCopyTest : public FolderCopyTest {
 protected:
  // Before the first folder is opened, which belongs to the mounts it was opened in. In memory, because thousands of
  // folders made and removed in a row take ext4 half a minute.
  static void SetUpTestSuite() {
    if (geteuid() != 0 || !HasOwnMounts()) return;
    EXPECT_EQ(mount("tmpfs", testing::TempDir().c_str(), "tmpfs", 0, "size=512m"), 0);
  }
  void TearDown() override {
    umount2((scratch_.path() + "/source/mounted").c_str(), MNT_DETACH);
    umount2((scratch_.path() + "/source/file").c_str(), MNT_DETACH);
    umount2((scratch_.path() + "/small").c_str(), MNT_DETACH);
    EXPECT_TRUE(RemoveTree(scratch_.fd().get(), "copy"));
    EXPECT_TRUE(RemoveTree(scratch_.fd().get(), "source"));
  }

  // A chain of folders named "d" below `path`; returns the lowest.
  os::Fd MakeChain(const std::string& path, int depth) const {
    os::Fd here = scratch_.Open(path);
    for (int i = 0; i < depth; ++i) {
      EXPECT_EQ(mkdirat(here.get(), "d", 0755), 0) << i;
      here.Reset(openat(here.get(), "d", kDirectory));
    }
    return here;
  }

  static std::size_t OpenDescriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
};

TEST_F(HostileFolderCopyTest, CopiesAVeryDeepTreeWithFewDescriptors) {
  constexpr int kDepth = 3000;
  const os::Fd lowest = MakeChain("source", kDepth);
  const os::Fd file(openat(lowest.get(), "bottom", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(os::WriteAll(file.get(), "deep"));
  // Beside the deep branch on the way, which is come back to.
  for (const std::string path : {"source", "source/d/d", "source/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d"}) {
    for (const char* name : {"/a", "/z"}) {
      Make(path + name);
      Write(path + name + "/file", path);
    }
  }
  // Too many for one part of a listing.
  for (int i = 0; i < 2000; ++i) Write("source/d/d/d/" + std::to_string(i), "");
  std::size_t most = 0;
  const std::size_t before = OpenDescriptors();
  const auto copied = Copy({.progress_interval = std::chrono::milliseconds(0)}, [&](const CopyProgress& progress) {
    if (progress.entries % 100 == 0) most = std::max(most, OpenDescriptors());
    return true;
  });
  ASSERT_TRUE(copied) << TextOf(copied.error());
  EXPECT_EQ(OpenDescriptors(), before);
  EXPECT_LE(most, before + 50);
  EXPECT_EQ(copied->folders, static_cast<std::uint64_t>(kDepth) + 6);
  EXPECT_EQ(copied->files, 2007U);
  EXPECT_EQ(copied->changed, 0U);
  os::Fd here = scratch_.Open("copy");
  for (int i = 0; i < kDepth; ++i) here.Reset(openat(here.get(), "d", kDirectory));
  const os::Fd bottom(openat(here.get(), "bottom", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(bottom.valid());
  EXPECT_EQ(os::ReadAll(bottom.get(), 100).value_or(""), "deep");
  EXPECT_EQ(Read("copy/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/z/file").size(), 46U);
}

TEST_F(HostileFolderCopyTest, RefusesWhatIsDeeperThanItsLimit) {
  MakeChain("source", 4096);
  const auto copied = Copy();
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code(), Code::kResourceExhausted);
  EXPECT_NE(copied.error().message().find("4096"), std::string::npos);
  EXPECT_LT(copied.error().message().size(), 500U);
  ExpectNothingIsLeft();
}

TEST_F(HostileFolderCopyTest, DoesNotEnterMounts) {
  if (!HasOwnMounts()) GTEST_SKIP() << "this place allows no mount namespace";
  Make("outside");
  Write("outside/secret", "secret");
  Make("source/mounted");
  Write("source/file", "mine");
  Write("source/other", "mine");
  EXPECT_EQ(fchownat(scratch_.fd().get(), "source", 11, 22, 0), 0);
  // Of the same file system: the device number does not tell.
  ASSERT_EQ(mount((scratch_.path() + "/outside").c_str(), (scratch_.path() + "/source/mounted").c_str(), nullptr,
                  MS_BIND, nullptr),
            0);
  ASSERT_EQ(mount((scratch_.path() + "/outside/secret").c_str(), (scratch_.path() + "/source/file").c_str(), nullptr,
                  MS_BIND, nullptr),
            0);
  auto copied = Copy();
  ASSERT_TRUE(copied) << TextOf(copied.error());
  EXPECT_EQ(copied->mounts, 2U);
  EXPECT_EQ(copied->files, 1U);
  EXPECT_EQ(Stat("copy/mounted").st_mode, S_IFDIR | 0755U);
  EXPECT_EQ(Stat("copy/mounted").st_uid, 11U);
  EXPECT_FALSE(scratch_.Has("copy/mounted/secret"));
  EXPECT_FALSE(scratch_.Has("copy/file"));
  // The folder itself may be one.
  copied = CopyFolder(scratch_.Open("source/mounted"), scratch_.fd(), "copy2", {}, {});
  ASSERT_TRUE(copied);
  EXPECT_EQ(Read("copy2/secret"), "secret");
}

TEST_F(HostileFolderCopyTest, ACancelLeavesNothing) {
  for (int i = 0; i < 20; ++i) {
    Make("source/" + std::to_string(i));
    for (int j = 0; j < 20; ++j) Write("source/" + std::to_string(i) + "/" + std::to_string(j), "content");
  }
  for (const std::uint64_t stop : {1U, 30U, 200U, 420U}) {
    bool had_begun = false;
    const auto copied = Copy({.progress_interval = std::chrono::milliseconds(0)}, [&](const CopyProgress& progress) {
      had_begun = !NamesBesideSource().empty();
      return progress.entries < stop;
    });
    ASSERT_FALSE(copied);
    EXPECT_EQ(copied.error().code(), Code::kConflict);
    EXPECT_TRUE(had_begun);
    ExpectNothingIsLeft();
  }
  // At the end, when no interval has passed.
  EXPECT_FALSE(Copy({.progress_interval = std::chrono::hours(1)}, [](const CopyProgress&) { return false; }));
  ExpectNothingIsLeft();
}

TEST_F(HostileFolderCopyTest, AFullDiskLeavesNothing) {
  if (!HasOwnMounts()) GTEST_SKIP() << "this place allows no mount namespace";
  Make("small");
  const std::string small_path = scratch_.path() + "/small";
  ASSERT_EQ(mount("tmpfs", small_path.c_str(), "tmpfs", 0, "size=1m,nr_inodes=100"), 0);
  const os::Fd small(open(small_path.c_str(), kDirectory));
  Make("source/folder");
  Write("source/folder/large", std::string(2 << 20, 'x'));
  auto copied = CopyFolder(scratch_.Open("source"), small, "copy", {}, {});
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code(), Code::kResourceExhausted);
  EXPECT_EQ(copied.error().errno_value(), ENOSPC);
  EXPECT_NE(copied.error().message().find("folder/large"), std::string::npos) << copied.error().message();
  EXPECT_TRUE(std::filesystem::is_empty(small_path));
  Write("source/folder/large", "");
  for (int i = 0; i < 200; ++i) Write("source/folder/" + std::to_string(i), "");
  copied = CopyFolder(scratch_.Open("source"), small, "copy", {}, {});
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().errno_value(), ENOSPC);
  EXPECT_TRUE(std::filesystem::is_empty(small_path));
}

TEST_F(HostileFolderCopyTest, CopiesAGrowingFileToTheSizeItHad) {
  Write("source/log", std::string(20 << 20, 'x'));
  const os::Fd log(openat(scratch_.fd().get(), "source/log", O_WRONLY | O_APPEND | O_CLOEXEC));
  const auto copied = Copy({.progress_interval = std::chrono::milliseconds(0)}, [&](const CopyProgress& progress) {
    if (progress.bytes.value > 0) {
      EXPECT_TRUE(os::WriteAll(log.get(), std::string(1 << 20, 'y')));
    }
    return true;
  });
  ASSERT_TRUE(copied) << TextOf(copied.error());
  EXPECT_EQ(Stat("copy/log").st_size, 20 << 20);
  EXPECT_GT(Stat("source/log").st_size, 20 << 20);
}

TEST_F(HostileFolderCopyTest, CopiesAShrinkingFileAsFarAsItGoes) {
  Write("source/log", std::string(20 << 20, 'x'));
  const auto copied = Copy({.progress_interval = std::chrono::milliseconds(0)}, [&](const CopyProgress& progress) {
    if (progress.bytes.value > 0) {
      EXPECT_EQ(truncate((scratch_.path() + "/source/log").c_str(), 10 << 20), 0);
    }
    return true;
  });
  ASSERT_TRUE(copied) << TextOf(copied.error());
  EXPECT_EQ(Read("copy/log"), std::string(10 << 20, 'x'));
}

TEST_F(HostileFolderCopyTest, SkipsWhatIsGone) {
  for (int i = 0; i < 50; ++i) {
    Write("source/file" + std::to_string(i), "x");
    Make("source/folder" + std::to_string(i));
  }
  bool is_first = true;
  const auto copied = Copy({.progress_interval = std::chrono::milliseconds(0)}, [&](const CopyProgress&) {
    // The listing is read by now.
    for (int i = 0; is_first && i < 50; ++i) {
      EXPECT_EQ(unlinkat(scratch_.fd().get(), ("source/file" + std::to_string(i)).c_str(), 0), 0);
      EXPECT_EQ(unlinkat(scratch_.fd().get(), ("source/folder" + std::to_string(i)).c_str(), AT_REMOVEDIR), 0);
    }
    is_first = false;
    return true;
  });
  ASSERT_TRUE(copied) << TextOf(copied.error());
  EXPECT_EQ(copied->changed, 100U);
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.path() + "/copy"));
}

TEST_F(HostileFolderCopyTest, TakesWhatStandsInPlaceOfAListedFile) {
  Make("vault");
  Write("vault/secret", "secret");
  const int folder = scratch_.fd().get();
  for (const mode_t kind : std::array<mode_t, 4>{S_IFIFO, S_IFSOCK, S_IFLNK, S_IFDIR}) {
    Write("source/file", "mine");
    bool is_first = true;
    const auto copied = Copy({.progress_interval = std::chrono::milliseconds(0)}, [&](const CopyProgress&) {
      if (!std::exchange(is_first, false)) return true;
      EXPECT_EQ(unlinkat(folder, "source/file", 0), 0);
      if (kind == S_IFLNK) {
        EXPECT_EQ(symlinkat("../vault/secret", folder, "source/file"), 0);
      } else if (kind == S_IFDIR) {
        Make("source/file");
      } else {
        EXPECT_EQ(mknodat(folder, "source/file", kind | 0600, 0), 0);
      }
      return true;
    });
    ASSERT_TRUE(copied) << TextOf(copied.error());
    EXPECT_EQ(copied->files, 0U);
    EXPECT_EQ(copied->changed, 0U);
    EXPECT_EQ(copied->left_out, kind == S_IFSOCK ? 1U : 0U);
    EXPECT_EQ(scratch_.Has("copy/file"), kind != S_IFSOCK);
    if (kind != S_IFSOCK) {
      EXPECT_EQ(Stat("copy/file").st_mode & S_IFMT, kind);
    }
    EXPECT_TRUE(RemoveTree(folder, "copy"));
    EXPECT_EQ(unlinkat(folder, "source/file", kind == S_IFDIR ? AT_REMOVEDIR : 0), 0);
  }
}

TEST_F(HostileFolderCopyTest, LeavesOutAListedFolderThatIsReplaced) {
  Make("vault");
  Write("vault/secret", "secret");
  Make("source/folder");
  bool is_first = true;
  const auto copied = Copy({.progress_interval = std::chrono::milliseconds(0)}, [&](const CopyProgress&) {
    if (!std::exchange(is_first, false)) return true;
    EXPECT_EQ(unlinkat(scratch_.fd().get(), "source/folder", AT_REMOVEDIR), 0);
    EXPECT_EQ(symlinkat("../vault", scratch_.fd().get(), "source/folder"), 0);
    return true;
  });
  ASSERT_TRUE(copied) << TextOf(copied.error());
  EXPECT_EQ(copied->changed, 1U);
  EXPECT_FALSE(scratch_.Has("copy/folder"));
}

TEST_F(HostileFolderCopyTest, RefusesAFolderThatIsMovedWhileItIsFarBelow) {
  MakeChain("source", 40);
  Make("elsewhere");
  const os::Fd file(openat(MakeChain("source/d", 0).get(), "x", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  bool has_moved = false;
  const auto copied = Copy({.progress_interval = std::chrono::milliseconds(0)}, [&](const CopyProgress& progress) {
    if (progress.entries == 41 && !has_moved) {
      has_moved = true;
      // Its parent is another one afterwards, and the way back would lead out of the source.
      EXPECT_EQ(renameat(scratch_.fd().get(), "source/d/d/d/d", scratch_.fd().get(), "elsewhere/d"), 0);
    }
    return true;
  });
  ASSERT_TRUE(has_moved);
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code(), Code::kConflict);
  EXPECT_TRUE(copied.error().retryable());
  EXPECT_FALSE(scratch_.Has("copy"));
  EXPECT_TRUE(RemoveTree(scratch_.fd().get(), "elsewhere"));
}

// What stands under the name changes between a file, a link to a secret, a FIFO and a folder: the copy has one of them,
// and never what the link leads to.
TEST_F(HostileFolderCopyTest, IsNeverLedAstrayByWhatIsReplaced) {
  Write("secret", "secret");
  Make("vault");
  Write("vault/secret", "secret");
  const int folder = scratch_.fd().get();
  Write("source/file", "mine");
  Make("source/folder");
  Write("source/folder/file", "mine");
  std::atomic<bool> is_over = false;
  int failures = 0;
  std::thread attacker([&] {
    Write("new_file", "mine");
    for (unsigned i = 0; !is_over; ++i) {
      unlinkat(folder, "new", 0);
      if (i % 4 == 0) failures += linkat(folder, "new_file", folder, "new", 0) != 0;
      if (i % 4 == 1 || i % 4 == 3) failures += symlinkat("../secret", folder, "new") != 0;
      if (i % 4 == 2) failures += mkfifoat(folder, "new", 0600) != 0;
      failures += renameat(folder, "new", folder, "source/file") != 0;
      // A link for the folder, and back.
      failures += symlinkat("../vault", folder, "new_folder") != 0;
      failures += renameat2(folder, "new_folder", folder, "source/folder", RENAME_EXCHANGE) != 0;
      failures += renameat2(folder, "new_folder", folder, "source/folder", RENAME_EXCHANGE) != 0;
      failures += unlinkat(folder, "new_folder", 0) != 0;
    }
  });
  for (int round = 0; round < 2000; ++round) {
    const auto copied = CopyFolder(scratch_.Open("source"), scratch_.fd(), "copy", {}, {});
    if (!copied) {
      ADD_FAILURE() << TextOf(copied.error());
      break;
    }
    for (const char* name : {"copy/file", "copy/folder/file"}) {
      struct stat info{};
      if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode)) {
        EXPECT_EQ(Read(name), "mine");
      }
    }
    struct stat info{};
    if (fstatat(folder, "copy/folder", &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode)) {
      EXPECT_FALSE(scratch_.Has("copy/folder/secret"));
    }
    EXPECT_TRUE(RemoveTree(folder, "copy"));
  }
  is_over = true;
  attacker.join();
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace caisson::storage
