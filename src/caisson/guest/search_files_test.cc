#include "caisson/guest/search_files.h"

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

#include "caisson/os/fd.h"

namespace caisson::guest {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

class SearchFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "search_files_test.XXXXXX";
    ASSERT_NE(mkdtemp(path_.data()), nullptr);
    ASSERT_EQ(chmod(path_.c_str(), 0755), 0);
  }
  void TearDown() override {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  std::string At(const std::string& name) const { return path_ + "/" + name; }
  void MakeFile(const std::string& name, const std::string& content) const {
    fs::create_directories(fs::path(At(name)).parent_path());
    std::ofstream(At(name)) << content;
  }
  proto::SearchFiles Request(const std::string& pattern, const std::string& glob = "") const {
    proto::SearchFiles request;
    request.set_path(path_);
    request.set_pattern(pattern);
    request.set_glob(glob);
    request.set_limit(kMaxMatches);
    return request;
  }
  proto::FileReply SearchIn(const std::string& path, const std::string& pattern) const {
    proto::SearchFiles request = Request(pattern);
    request.set_path(path);
    return SearchFiles(request);
  }
  // Each as "path:line:text".
  static Texts Lines(const proto::FileReply& reply) {
    EXPECT_EQ(reply.error(), 0) << reply.step();
    Texts lines;
    for (const proto::Match& match : reply.matches()) {
      lines.push_back(match.path() + ":" + std::to_string(match.line()) + ":" + match.text());
    }
    return lines;
  }

  std::string path_;
};

TEST_F(SearchFilesTest, FindsLinesInTheOrderOfATree) {
  MakeFile("b/z", "x\nneedle 1\nneedle 2");
  MakeFile("b/a/deep", "a needle\n");
  MakeFile("c", "needle");
  MakeFile("a", "hay");
  MakeFile("new\nline\xff", "NEEDLE\xff");
  const proto::FileReply reply = SearchFiles(Request("n(e+)dle"));
  EXPECT_EQ(Lines(reply), (Texts{"b/a/deep:1:a needle", "b/z:2:needle 1", "b/z:3:needle 2", "c:1:needle"}));
  EXPECT_EQ(reply.matches(0).column(), 3U);
  EXPECT_EQ(reply.files_searched(), 5U);
  EXPECT_EQ(reply.files_skipped(), 0U);
  EXPECT_FALSE(reply.truncated());
  proto::SearchFiles any_case = Request("n(e+)dle");
  any_case.set_ignores_case(true);
  EXPECT_EQ(Lines(SearchFiles(any_case)).back(), "new\nline\xff:1:NEEDLE\xff");
}

TEST_F(SearchFilesTest, SearchesOneFile) {
  MakeFile("folder/file", "a\nb");
  EXPECT_EQ(Lines(SearchIn(At("folder/file"), "b")), (Texts{"file:2:b"}));
  fs::create_symlink("folder/file", At("link"));
  EXPECT_EQ(Lines(SearchIn(At("link"), "b")), (Texts{"link:2:b"}));
}

TEST_F(SearchFilesTest, LooksOnlyAtWhatTheGlobMatches) {
  for (const char* name : {"a.py", "b.txt", "src/c.py", "src/d/e.py"}) MakeFile(name, "x");
  const proto::FileReply reply = SearchFiles(Request("x", "*.py"));
  EXPECT_EQ(Lines(reply), (Texts{"a.py:1:x", "src/c.py:1:x", "src/d/e.py:1:x"}));
  EXPECT_EQ(reply.files_searched(), 3U);
  EXPECT_EQ(Lines(SearchFiles(Request("x", "src/*.py"))), (Texts{"src/c.py:1:x"}));
  EXPECT_EQ(Lines(SearchFiles(Request("x", "src/**"))), (Texts{"src/c.py:1:x", "src/d/e.py:1:x"}));
}

TEST_F(SearchFilesTest, StopsAtTheLimit) {
  for (const char* name : {"a", "b", "c"}) MakeFile(name, "x\nx\n");
  proto::SearchFiles request = Request("x");
  request.set_limit(3);
  const proto::FileReply reply = SearchFiles(request);
  EXPECT_EQ(Lines(reply), (Texts{"a:1:x", "a:2:x", "b:1:x"}));
  EXPECT_TRUE(reply.truncated());
  EXPECT_EQ(reply.files_searched(), 2U);
}

TEST_F(SearchFilesTest, FollowsNoLinkAndOpensNoSpecialFile) {
  MakeFile("inside/file", "needle");
  fs::create_symlink("inside", At("folder_link"));
  fs::create_symlink("inside/file", At("file_link"));
  ASSERT_EQ(mkfifo(At("fifo").c_str(), 0600), 0);
  const proto::FileReply reply = SearchFiles(Request("needle"));
  EXPECT_EQ(Lines(reply), (Texts{"inside/file:1:needle"}));
  EXPECT_EQ(reply.files_searched() + reply.files_skipped(), 1U);
  for (const std::string& path : {At("fifo"), std::string("/dev/zero")}) {
    EXPECT_EQ(SearchIn(path, "x").error(), EINVAL) << path;
    EXPECT_EQ(SearchIn(path, "x").step(), "not_searchable") << path;
  }
}

TEST_F(SearchFilesTest, SkipsWhatItCannotSearch) {
  MakeFile("binary", std::string("needle\0", 7));
  MakeFile("large", "needle");
  ASSERT_EQ(truncate(At("large").c_str(), (off_t{64} << 20U) + 1), 0);
  MakeFile("text", "needle");
  const proto::FileReply reply = SearchFiles(Request("needle"));
  EXPECT_EQ(Lines(reply), (Texts{"text:1:needle"}));
  EXPECT_EQ(reply.files_searched(), 1U);
  EXPECT_EQ(reply.files_skipped(), 2U);
  EXPECT_FALSE(reply.truncated());
}

TEST_F(SearchFilesTest, LeavesOutGitUnlessItIsAskedThere) {
  MakeFile(".git/objects/x", "needle");
  MakeFile("sub/.git/y", "needle");
  MakeFile("worktree/.git", "needle");  // a file
  MakeFile(".github/z", "needle");
  EXPECT_EQ(Lines(SearchFiles(Request("needle"))), (Texts{".github/z:1:needle", "worktree/.git:1:needle"}));
  EXPECT_EQ(Lines(SearchIn(At(".git"), "needle")), (Texts{"objects/x:1:needle"}));
  EXPECT_EQ(Lines(SearchIn(At(".git/objects"), "needle")), (Texts{"x:1:needle"}));
}

TEST_F(SearchFilesTest, CutsALongLineBetweenCharacters) {
  MakeFile("a", std::string(499, 'x') + "\u00e9 and more");
  MakeFile("b", std::string(498, 'x') + "\u00e9 and more");
  MakeFile("c", std::string(1000, '\xff') + "xx");
  const proto::FileReply reply = SearchFiles(Request("x+"));
  ASSERT_EQ(reply.matches_size(), 3);
  EXPECT_EQ(reply.matches(0).text(), std::string(499, 'x'));
  EXPECT_EQ(reply.matches(1).text(), std::string(498, 'x') + "\u00e9");
  EXPECT_EQ(reply.matches(2).text(), std::string(500, '\xff'));
  EXPECT_EQ(reply.matches(2).column(), 1001U);
}

TEST_F(SearchFilesTest, GoesDeepButNotForEver) {
  const int top = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int here = top;
  for (int depth = 1; depth <= 140; ++depth) {
    const os::Fd file(openat(here, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    ASSERT_TRUE(os::WriteAll(file.get(), "needle"));
    ASSERT_EQ(mkdirat(here, "d", 0755), 0);
    const int next = openat(here, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    close(here);
    here = next;
  }
  close(here);
  const proto::FileReply reply = SearchFiles(Request("needle"));
  EXPECT_EQ(reply.matches_size(), static_cast<int>(kMaxSearchDepth));
  EXPECT_TRUE(reply.truncated());
}

TEST_F(SearchFilesTest, NeverGoesThroughALinkThatTakesAPlace) {
  MakeFile("elsewhere/secret", "secret");
  MakeFile("secret_file", "secret");
  fs::create_directories(At("tree/swapped"));
  MakeFile("tree/file", "plain");
  fs::create_symlink(At("elsewhere"), At("link"));
  fs::create_symlink(At("secret_file"), At("file_link"));
  std::atomic<bool> over{false};
  std::thread swapper([&] {
    while (!over) {
      renameat2(AT_FDCWD, At("link").c_str(), AT_FDCWD, At("tree/swapped").c_str(), RENAME_EXCHANGE);
      renameat2(AT_FDCWD, At("file_link").c_str(), AT_FDCWD, At("tree/file").c_str(), RENAME_EXCHANGE);
    }
  });
  for (int i = 0; i < 2000; ++i) {
    const proto::FileReply reply = SearchIn(At("tree"), "secret");
    EXPECT_EQ(reply.error(), 0);
    EXPECT_EQ(reply.matches_size(), 0);
  }
  over = true;
  swapper.join();
}

TEST_F(SearchFilesTest, SkipsWhatItsUserMayNotRead) {
  if (geteuid() != 0) GTEST_SKIP() << "changing the user needs root";
  MakeFile("closed/file", "needle");
  MakeFile("file", "needle");
  MakeFile("open", "needle");
  ASSERT_EQ(chmod(At("closed").c_str(), 0700), 0);
  ASSERT_EQ(chmod(At("file").c_str(), 0600), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) _exit(2);
    const proto::FileReply reply = SearchFiles(Request("needle"));
    const bool right = Lines(reply) == Texts{"open:1:needle"} && reply.files_skipped() == 2 &&
                       SearchIn(At("closed"), "x").error() == EACCES && SearchIn(At("file"), "x").error() == EACCES;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(SearchFilesTest, RefusesWhatIsNoRequest) {
  EXPECT_EQ(SearchFiles(Request("(")).step(), "pattern");
  EXPECT_EQ(SearchFiles(Request("(")).content(), "missing ): (");
  EXPECT_EQ(SearchFiles(Request(std::string(4097, 'a'))).step(), "pattern");
  EXPECT_EQ(SearchFiles(Request("a", std::string(4097, 'a'))).step(), "glob");
  for (const std::uint32_t limit : {0U, 1001U, ~0U}) {
    proto::SearchFiles request = Request("a");
    request.set_limit(limit);
    EXPECT_EQ(SearchFiles(request).step(), "limit") << limit;
  }
  EXPECT_EQ(SearchIn(At("missing"), "a").error(), ENOENT);
}

}  // namespace
}  // namespace caisson::guest
