#include "caisson/guest/list_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace caisson::guest {
namespace {

namespace fs = std::filesystem;

class ListTreeTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "list_tree_test.XXXXXX";
    ASSERT_NE(mkdtemp(path_.data()), nullptr);
    ASSERT_EQ(chmod(path_.c_str(), 0755), 0);
  }
  void TearDown() override {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  std::string At(const std::string& name) const { return path_ + "/" + name; }
  void MakeFile(const std::string& name, const std::string& content = "") const {
    fs::create_directories(fs::path(At(name)).parent_path());
    std::ofstream(At(name)) << content;
  }
  proto::FileReply List(std::uint32_t depth, std::uint32_t limit = kMaxTreeEntries) const {
    return ListTree(RequestFor(path_, depth, limit));
  }
  static proto::ListTree RequestFor(const std::string& path, std::uint32_t depth, std::uint32_t limit) {
    proto::ListTree request;
    request.set_path(path);
    request.set_depth(depth);
    request.set_limit(limit);
    return request;
  }
  // Each as its depth and name.
  static std::vector<std::string> Lines(const proto::FileReply& reply) {
    std::vector<std::string> lines;
    for (const proto::FileEntry& entry : reply.entries()) {
      lines.push_back(std::to_string(entry.depth()) + entry.name() + (entry.is_unreadable() ? "!" : ""));
    }
    return lines;
  }

  std::string path_;
};

using Texts = std::vector<std::string>;

TEST_F(ListTreeTest, ComesDepthFirstAndSorted) {
  for (const char* name : {"b/z", "b/a/deep/x", "b/a.c", "a", "c"}) MakeFile(name);
  const proto::FileReply reply = List(16);
  EXPECT_EQ(reply.error(), 0);
  EXPECT_EQ(Lines(reply), (Texts{"1a", "1b", "2a", "3deep", "4x", "2a.c", "2z", "1c"}));
  EXPECT_FALSE(reply.truncated());
  EXPECT_EQ(reply.seen(), 8U);
}

TEST_F(ListTreeTest, GoesNoDeeperThanItsDepth) {
  MakeFile("a/b/c/file");
  EXPECT_EQ(Lines(List(1)), (Texts{"1a"}));
  EXPECT_EQ(Lines(List(2)), (Texts{"1a", "2b"}));
  EXPECT_EQ(Lines(List(4)), (Texts{"1a", "2b", "3c", "4file"}));
  EXPECT_FALSE(List(1).truncated()) << "a depth is no limit";
}

TEST_F(ListTreeTest, GivesTheFirstOfMore) {
  for (const char* name : {"a/1", "a/2", "b/1", "c", "d"}) MakeFile(name);
  const struct {
    std::uint32_t limit;
    Texts lines;
  } cases[] = {{1, {"1a"}},
               {2, {"1a", "21"}},
               {3, {"1a", "21", "22"}},
               {4, {"1a", "21", "22", "1b"}},
               {6, {"1a", "21", "22", "1b", "21", "1c"}}};
  for (const auto& c : cases) {
    const proto::FileReply reply = List(3, c.limit);
    EXPECT_EQ(Lines(reply), c.lines) << c.limit;
    EXPECT_TRUE(reply.truncated()) << c.limit;
    EXPECT_GT(reply.seen(), c.limit) << c.limit;
  }
  EXPECT_FALSE(List(3, 7).truncated());
}

TEST_F(ListTreeTest, AnEmptyFolderBehindTheLastEntryIsNothingMore) {
  MakeFile("a");
  fs::create_directory(At("b"));
  EXPECT_FALSE(List(2, 2).truncated());
  MakeFile("b/x");
  EXPECT_TRUE(List(2, 2).truncated());
  EXPECT_FALSE(List(1, 2).truncated());
}

TEST_F(ListTreeTest, DescribesWhatItFinds) {
  MakeFile("file", "12345");
  ASSERT_EQ(chmod(At("file").c_str(), 0640), 0);
  ASSERT_EQ(mkfifo(At("fifo").c_str(), 0600), 0);
  fs::create_symlink("/no/such/target", At("link"));
  const timespec times[2] = {{1'600'000'000, 123'456'789}, {1'600'000'000, 123'456'789}};
  ASSERT_EQ(utimensat(AT_FDCWD, At("file").c_str(), times, 0), 0);
  const proto::FileReply reply = List(2);
  ASSERT_EQ(Lines(reply), (Texts{"1fifo", "1file", "1link"}));
  EXPECT_EQ(reply.entries(0).mode() & S_IFMT, static_cast<unsigned>(S_IFIFO));
  EXPECT_EQ(reply.entries(1).mode(), S_IFREG | 0640U);
  EXPECT_EQ(reply.entries(1).size(), 5U);
  EXPECT_EQ(reply.entries(1).modified_ms(), 1'600'000'000'123);
  EXPECT_EQ(reply.entries(2).link_target(), "/no/such/target");
}

TEST_F(ListTreeTest, FollowsNoLinkButThePath) {
  MakeFile("inside/file");
  fs::create_symlink("inside", At("inside_link"));
  fs::create_symlink(".", At("loop"));
  EXPECT_EQ(Lines(List(16)), (Texts{"1inside", "2file", "1inside_link", "1loop"}));
  EXPECT_EQ(Lines(ListTree(RequestFor(At("inside_link"), 1, 9))), (Texts{"1file"}));
}

TEST_F(ListTreeTest, TakesNamesOfAnyBytes) {
  MakeFile("new\nline/\xff\xfe", "");
  EXPECT_EQ(Lines(List(2)), (Texts{"1new\nline", "2\xff\xfe"}));
}

TEST_F(ListTreeTest, NeverGoesThroughALinkThatTakesAFoldersPlace) {
  const std::string elsewhere = At("elsewhere");
  MakeFile("elsewhere/secret");
  fs::create_directories(At("tree/swapped"));
  fs::create_symlink(elsewhere, At("link"));
  std::atomic<bool> over{false};
  std::thread swapper([&] {
    // A folder and a link take turns behind one name.
    while (!over) {
      renameat2(AT_FDCWD, At("link").c_str(), AT_FDCWD, At("tree/swapped").c_str(), RENAME_EXCHANGE);
    }
  });
  for (int i = 0; i < 2000; ++i) {
    const proto::FileReply reply = ListTree(RequestFor(At("tree"), 3, 9));
    EXPECT_EQ(reply.error(), 0);
    for (const proto::FileEntry& entry : reply.entries()) EXPECT_NE(entry.name(), "secret");
  }
  over = true;
  swapper.join();
}

TEST_F(ListTreeTest, MarksAFolderThatCannotBeRead) {
  if (geteuid() != 0) GTEST_SKIP() << "changing the user needs root";
  MakeFile("a/closed/file");
  MakeFile("b");
  ASSERT_EQ(chmod(At("a/closed").c_str(), 0711), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) _exit(2);
    const bool marked = Lines(List(16)) == Texts{"1a", "2closed!", "1b"} &&
                        ListTree(RequestFor(At("a/closed"), 1, 9)).error() == EACCES;
    _exit(marked ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(ListTreeTest, RefusesWhatIsNoRequest) {
  for (const std::uint32_t depth : {0U, 17U, ~0U}) EXPECT_EQ(List(depth).error(), EINVAL) << depth;
  for (const std::uint32_t limit : {0U, 10'001U, ~0U}) EXPECT_EQ(List(1, limit).error(), EINVAL) << limit;
  MakeFile("file");
  ASSERT_EQ(mkfifo(At("fifo").c_str(), 0600), 0);
  EXPECT_EQ(ListTree(RequestFor(At("file"), 1, 1)).error(), ENOTDIR);
  EXPECT_EQ(ListTree(RequestFor(At("fifo"), 1, 1)).error(), ENOTDIR);
  EXPECT_EQ(ListTree(RequestFor(At("missing"), 1, 1)).error(), ENOENT);
}

}  // namespace
}  // namespace caisson::guest
