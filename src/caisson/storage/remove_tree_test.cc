#include "caisson/storage/remove_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "caisson/os/fd.h"

namespace caisson::storage {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

// Every test has a folder of its own with "tree", to be removed, and "outside", which must survive.
class RemoveTreeTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "remove_tree_test.XXXXXX";
    ASSERT_NE(mkdtemp(path_.data()), nullptr);
    folder_.Reset(open(path_.c_str(), kDirectory));
    Make("tree");
    Make("outside");
    Write("outside/precious");
  }
  void TearDown() override {
    EXPECT_TRUE(Exists("outside/precious"));
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  void Make(const std::string& path) { EXPECT_EQ(mkdirat(folder_.get(), path.c_str(), 0755), 0) << path; }
  void Write(const std::string& path) {
    const os::Fd file(openat(folder_.get(), path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    EXPECT_TRUE(file.valid()) << path;
  }
  void Link(const std::string& target, const std::string& path) {
    EXPECT_EQ(symlinkat(target.c_str(), folder_.get(), path.c_str()), 0) << path;
  }
  bool Exists(const std::string& path) const {
    struct stat info{};
    return fstatat(folder_.get(), path.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  }
  void ExpectRemoved() {
    const Status removed = RemoveTree(folder_.get(), "tree");
    EXPECT_TRUE(removed) << removed.error().message() << ": " << removed.error().cause();
    EXPECT_FALSE(Exists("tree"));
  }

  std::string path_;
  os::Fd folder_;
};

TEST_F(RemoveTreeTest, TakesWhatIsMissingForRemoved) {
  EXPECT_TRUE(RemoveTree(folder_.get(), "no_such_folder"));
  ExpectRemoved();
  ExpectRemoved();
}

TEST_F(RemoveTreeTest, RemovesOnlyTheNamedFolder) {
  Make("tree/a");
  Make("tree/a/b");
  Write("tree/a/b/file");
  Write("tree/file");
  Make("tree-too");
  ExpectRemoved();
  EXPECT_TRUE(Exists("tree-too"));
}

TEST_F(RemoveTreeTest, RefusesAFileAndALink) {
  Write("file");
  EXPECT_FALSE(RemoveTree(folder_.get(), "file"));
  EXPECT_TRUE(Exists("file"));
  Link("outside", "link");
  EXPECT_FALSE(RemoveTree(folder_.get(), "link"));
  EXPECT_TRUE(Exists("link"));
}

TEST_F(RemoveTreeTest, DoesNotFollowLinks) {
  Make("tree/a");
  Link("../outside", "tree/relative");
  Link("../../outside/precious", "tree/a/file");
  Link(path_ + "/outside", "tree/a/absolute");
  Link("..", "tree/a/up");
  Link("loop", "tree/loop");
  Link("nowhere", "tree/.removed.0");
  ExpectRemoved();
}

TEST_F(RemoveTreeTest, RemovesWhatIsNoFileWithoutOpeningIt) {
  Make("tree/a");
  EXPECT_EQ(mkfifoat(folder_.get(), "tree/fifo", 0600), 0);
  EXPECT_EQ(mkfifoat(folder_.get(), "tree/a/fifo", 0600), 0);
  EXPECT_EQ(mknodat(folder_.get(), "tree/a/socket", S_IFSOCK | 0600, 0), 0);
  ExpectRemoved();
}

TEST_F(RemoveTreeTest, RemovesOddNames) {
  for (const std::string& name :
       {std::string("new\nline"), std::string("\xff\xfe\x80"), std::string("-rf"), std::string(" "), std::string("..."),
        std::string("*"), std::string("\x01\x1b[2J"), std::string(255, 'n')}) {
    Make("tree/" + name);
    Write("tree/" + name + "/file");
    Make("tree/" + name + "/" + name);
    Write("tree/" + name + "/" + name + "/" + name);
  }
  ExpectRemoved();
}

TEST_F(RemoveTreeTest, RemovesFoldersNamedLikeItsOwn) {
  Make("tree/a");
  Make("tree/.removed.0");
  Write("tree/.removed.1");
  Make("tree/.removed.2");
  Make("tree/.removed.2/.removed.2");
  for (int i = 0; i < 20; ++i) {
    Make("tree/a/.removed." + std::to_string(i));
    Write("tree/a/.removed." + std::to_string(i) + "/.removed." + std::to_string(i));
    Make("tree/.removed.0/.removed." + std::to_string(i));
  }
  ExpectRemoved();
}

TEST_F(RemoveTreeTest, RemovesWhatItsOwnerMayNotEnter) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may list any folder";
  Make("tree/closed");
  Make("tree/closed/inside");
  Write("tree/closed/inside/file");
  EXPECT_EQ(fchmodat(folder_.get(), "tree/closed/inside", 0, 0), 0);
  EXPECT_EQ(fchmodat(folder_.get(), "tree/closed", 0, 0), 0);
  ExpectRemoved();
}

TEST_F(RemoveTreeTest, RemovesAVeryDeepTreeWithFewDescriptors) {
  constexpr int kDepth = 5000;
  os::Fd here(openat(folder_.get(), "tree", kDirectory));
  for (int i = 0; i < kDepth; ++i) {
    ASSERT_EQ(mkdirat(here.get(), "deeper", 0755), 0) << i;
    here.Reset(openat(here.get(), "deeper", kDirectory));
    ASSERT_TRUE(here.valid()) << i;
  }
  ASSERT_TRUE(os::Fd(openat(here.get(), "bottom", O_WRONLY | O_CREAT | O_CLOEXEC, 0600)).valid());
  here.Reset();
  ExpectRemoved();
}

TEST_F(RemoveTreeTest, RemovesAWideTree) {
  for (int i = 0; i < 300; ++i) {
    const std::string name = "tree/" + std::to_string(i);
    Make(name);
    for (int j = 0; j < 10; ++j) Make(name + "/" + std::to_string(j));
  }
  ExpectRemoved();
}

}  // namespace
}  // namespace caisson::storage
