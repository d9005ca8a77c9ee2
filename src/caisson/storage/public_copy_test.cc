#include "caisson/storage/public_copy.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>

#include "caisson/os/fd.h"

namespace caisson::storage {
namespace {

// Copies from the folder "from" to the folder "to", both below a folder of the test's own.
class CopyPublicTest : public testing::Test {
 protected:
  void SetUp() override {
    previous_umask_ = umask(0022);
    path_ = testing::TempDir() + "public_copy_test.XXXXXX";
    ASSERT_NE(mkdtemp(path_.data()), nullptr);
    for (const char* name : {"/from", "/to"}) ASSERT_EQ(mkdir((path_ + name).c_str(), 0755), 0);
    from_.Reset(open((path_ + "/from").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    to_.Reset(open((path_ + "/to").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  void TearDown() override {
    umask(previous_umask_);
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  void MakeFolder(const std::string& path, mode_t mode) {
    EXPECT_EQ(mkdirat(from_.get(), path.c_str(), 0755), 0) << path;
    EXPECT_EQ(fchmodat(from_.get(), path.c_str(), mode, 0), 0) << path;
  }
  void MakeFile(const std::string& path, mode_t mode, off_t size = 0) {
    const os::Fd file(openat(from_.get(), path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    EXPECT_TRUE(os::WriteAll(file.get(), "content of " + path)) << path;
    if (size > 0) {
      EXPECT_EQ(ftruncate(file.get(), size), 0);
    }
    EXPECT_EQ(fchmod(file.get(), mode), 0);
  }
  bool Copied(const std::string& path) const {
    struct stat info{};
    return fstatat(to_.get(), path.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  }
  mode_t ModeOf(const std::string& path) const {
    struct stat info{};
    return fstatat(to_.get(), path.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 ? info.st_mode & 07777 : 0;
  }
  std::string ContentOf(const std::string& path) const {
    const os::Fd file(openat(to_.get(), path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    return os::ReadAll(file.get(), 1000).value_or("unreadable");
  }
  std::string TargetOf(const std::string& path) const {
    std::array<char, 100> target{};
    const ssize_t n = readlinkat(to_.get(), path.c_str(), target.data(), target.size());
    return n < 0 ? "no link" : std::string(target.data(), static_cast<std::size_t>(n));
  }
  void ExpectCopy(const std::string& path) {
    const Status copied = CopyPublic(from_.get(), to_.get(), path);
    EXPECT_TRUE(copied) << copied.error().message() << ": " << copied.error().cause();
  }
  void ExpectTooMuch(const std::string& path) {
    const Status copied = CopyPublic(from_.get(), to_.get(), path);
    ASSERT_FALSE(copied);
    EXPECT_EQ(copied.error().code(), Code::kResourceExhausted);
  }

  mode_t previous_umask_ = 0;
  std::string path_;
  os::Fd from_;
  os::Fd to_;
};

TEST_F(CopyPublicTest, CopiesAFolderWithPlainModes) {
  MakeFolder("a", 0775);
  MakeFolder("a/b", 0755);
  MakeFile("a/b/file", 0664);
  MakeFile("a/b/program", 04755);
  ExpectCopy("a");
  EXPECT_EQ(ContentOf("a/b/file"), "content of a/b/file");
  EXPECT_EQ(ModeOf("a"), 0755U);
  EXPECT_EQ(ModeOf("a/b"), 0755U);
  EXPECT_EQ(ModeOf("a/b/file"), 0644U);
  EXPECT_EQ(ModeOf("a/b/program"), 0755U) << "a set-uid bit came along";
}

TEST_F(CopyPublicTest, LeavesOutWhatNotEverybodyMayRead) {
  MakeFolder("a", 0755);
  MakeFile("a/secret", 0600);
  MakeFile("a/of_a_group", 0640);
  MakeFile("a/executable_only", 0711);
  MakeFile("a/open", 0644);
  for (const mode_t mode : {0700, 0750, 0751, 0754}) {
    const std::string folder = "a/folder" + std::to_string(mode);
    MakeFolder(folder, mode);
    MakeFile(folder + "/open", 0644);
  }
  ExpectCopy("a");
  EXPECT_TRUE(Copied("a/open"));
  EXPECT_FALSE(Copied("a/secret"));
  EXPECT_FALSE(Copied("a/of_a_group"));
  EXPECT_FALSE(Copied("a/executable_only"));
  for (const mode_t mode : {0700, 0750, 0751, 0754}) {
    EXPECT_FALSE(Copied("a/folder" + std::to_string(mode))) << std::oct << mode;
  }
  ExpectCopy("a/secret");
  EXPECT_FALSE(Copied("a/secret"));
}

TEST_F(CopyPublicTest, LeavesOutWhatIsNoFile) {
  MakeFolder("a", 0755);
  EXPECT_EQ(mkfifoat(from_.get(), "a/fifo", 0644), 0);
  EXPECT_EQ(mknodat(from_.get(), "a/socket", S_IFSOCK | 0644, 0), 0);
  ExpectCopy("a");
  EXPECT_TRUE(Copied("a"));
  EXPECT_FALSE(Copied("a/fifo"));
  EXPECT_FALSE(Copied("a/socket"));
}

TEST_F(CopyPublicTest, CopiesLinksAsLinks) {
  MakeFolder("a", 0755);
  MakeFile("secret", 0600);
  EXPECT_EQ(symlinkat("../secret", from_.get(), "a/to_secret"), 0);
  EXPECT_EQ(symlinkat("/nowhere/at/all", from_.get(), "a/dangling"), 0);
  EXPECT_EQ(symlinkat("..", from_.get(), "a/up"), 0);
  ExpectCopy("a");
  EXPECT_EQ(TargetOf("a/to_secret"), "../secret");
  EXPECT_EQ(TargetOf("a/dangling"), "/nowhere/at/all");
  EXPECT_EQ(TargetOf("a/up"), "..");
  EXPECT_FALSE(Copied("secret"));
}

TEST_F(CopyPublicTest, MakesParents) {
  MakeFolder("a", 0755);
  MakeFolder("a/b", 0755);
  MakeFile("a/b/wanted", 0644);
  MakeFile("a/b/other", 0644);
  ExpectCopy("a/b/wanted");
  EXPECT_EQ(ContentOf("a/b/wanted"), "content of a/b/wanted");
  EXPECT_FALSE(Copied("a/b/other"));
}

// Nobody but its owner reaches it, whatever its own mode says.
TEST_F(CopyPublicTest, LeavesOutWhatLiesInAClosedFolder) {
  MakeFolder("closed", 0700);
  MakeFile("closed/file", 0644);
  ExpectCopy("closed/file");
  EXPECT_FALSE(Copied("closed/file"));
}

TEST_F(CopyPublicTest, LeavesOutWhatDoesNotExist) {
  ExpectCopy("missing");
  EXPECT_FALSE(Copied("missing"));
}

TEST_F(CopyPublicTest, ReplacesNothingThatIsThere) {
  MakeFile("file", 0644);
  ExpectCopy("file");
  EXPECT_FALSE(CopyPublic(from_.get(), to_.get(), "file"));
  EXPECT_EQ(ContentOf("file"), "content of file");
}

TEST_F(CopyPublicTest, CopiesNoMoreThan64MiB) {
  MakeFolder("a", 0755);
  constexpr off_t kHalf = off_t{32} << 20;
  MakeFile("a/1", 0644, kHalf);
  MakeFile("a/2", 0644, kHalf + 1);  // both sparse
  ExpectTooMuch("a");
}

TEST_F(CopyPublicTest, CopiesNoMoreThan20000Entries) {
  MakeFolder("a", 0755);
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_EQ(symlinkat("x", from_.get(), ("a/" + std::to_string(i)).c_str()), 0);
  }
  ExpectTooMuch("a");
}

TEST_F(CopyPublicTest, EndsInAVeryDeepFolder) {
  std::string path = "a";
  MakeFolder(path, 0755);
  for (int i = 0; i < 100; ++i) MakeFolder(path += "/a", 0755);
  ExpectTooMuch("a");
}

}  // namespace
}  // namespace caisson::storage
