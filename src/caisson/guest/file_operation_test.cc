#include "caisson/guest/file_operation.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "caisson/os/fd.h"

namespace caisson::guest {
namespace {

namespace fs = std::filesystem;
using proto::FileReply;
using proto::WriteFile;

os::Fd MakeMemory(std::string_view content) {
  os::Fd file(memfd_create("file_operation_test", MFD_CLOEXEC));
  EXPECT_TRUE(os::WriteAll(file.get(), content));
  EXPECT_EQ(lseek(file.get(), 0, SEEK_SET), 0);
  return file;
}

FileReply ReplyIn(const os::Fd& out) {
  FileReply reply;
  EXPECT_EQ(lseek(out.get(), 0, SEEK_SET), 0);
  const Result<std::string> text = os::ReadAll(out.get(), 64U << 20U);
  EXPECT_TRUE(text && reply.ParseFromString(*text));
  return reply;
}

class FileOperationTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "file_operation_test.XXXXXX";
    ASSERT_NE(mkdtemp(path_.data()), nullptr);
    ASSERT_EQ(chmod(path_.c_str(), 0777), 0);
  }
  void TearDown() override {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  std::string At(const std::string& name) const { return path_ + "/" + name; }
  void MakeFile(const std::string& name, std::string_view content, mode_t mode = 0644) const {
    const os::Fd file(open(At(name).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    EXPECT_TRUE(os::WriteAll(file.get(), content));
    EXPECT_EQ(fchmod(file.get(), mode), 0);
  }
  std::string ContentOf(const std::string& name) const {
    const os::Fd file(open(At(name).c_str(), O_RDONLY | O_CLOEXEC));
    return os::ReadAll(file.get(), 64U << 20U).value_or("unreadable");
  }
  mode_t ModeOf(const std::string& name) const {
    struct stat info{};
    EXPECT_EQ(lstat(At(name).c_str(), &info), 0);
    return info.st_mode & 07777;
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path_)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  static FileReply Read(const std::string& path, std::uint64_t offset = 0, std::uint64_t limit = kMaxContent) {
    proto::FileOperation operation;
    operation.mutable_read()->set_path(path);
    operation.mutable_read()->set_offset(offset);
    operation.mutable_read()->set_limit(limit);
    const os::Fd out = MakeMemory("");
    RunFileOperation(operation, -1, out.get());
    return ReplyIn(out);
  }
  // `sent` is what arrives of a content of `size` bytes.
  static FileReply WriteSent(const std::string& path, const std::string& sent, std::size_t size,
                             WriteFile::IfExists if_exists = WriteFile::OVERWRITE) {
    proto::FileOperation operation;
    operation.mutable_write()->set_path(path);
    operation.mutable_write()->set_size(size);
    operation.mutable_write()->set_if_exists(if_exists);
    const os::Fd out = MakeMemory("");
    RunFileOperation(operation, MakeMemory(sent).get(), out.get());
    return ReplyIn(out);
  }
  static FileReply Write(const std::string& path, const std::string& content,
                         WriteFile::IfExists if_exists = WriteFile::OVERWRITE) {
    return WriteSent(path, content, content.size(), if_exists);
  }
  static FileReply List(const std::string& path, std::uint32_t limit = kMaxEntries) {
    proto::FileOperation operation;
    operation.mutable_list()->set_path(path);
    operation.mutable_list()->set_limit(limit);
    const os::Fd out = MakeMemory("");
    RunFileOperation(operation, -1, out.get());
    return ReplyIn(out);
  }

  std::string path_;
};

TEST_F(FileOperationTest, ReadsAPartAndTellsTheWholeSize) {
  MakeFile("file", "0123456789");
  const struct {
    std::uint64_t offset;
    std::uint64_t limit;
    const char* content;
  } cases[] = {{0, 100, "0123456789"}, {0, 4, "0123"}, {3, 4, "3456"}, {8, 100, "89"}, {10, 5, ""},
               {999, 5, ""},           {0, 0, ""}};
  for (const auto& c : cases) {
    const FileReply reply = Read(At("file"), c.offset, c.limit);
    EXPECT_EQ(reply.error(), 0);
    EXPECT_EQ(reply.content(), c.content) << c.offset << " " << c.limit;
    EXPECT_EQ(reply.size(), 10U);
  }
}

TEST_F(FileOperationTest, ReadsBytesOfAnyKind) {
  const std::string content("a\0\xff\n", 4);
  MakeFile("\xff\n", content);
  EXPECT_EQ(Read(At("\xff\n")).content(), content);
}

TEST_F(FileOperationTest, ReadsNoMoreThanTheLargestContent) {
  MakeFile("file", "");
  ASSERT_EQ(truncate(At("file").c_str(), static_cast<off_t>(kMaxContent) + 10), 0);
  const FileReply reply = Read(At("file"), 0, ~std::uint64_t{0});
  EXPECT_EQ(reply.content().size(), kMaxContent);
  EXPECT_EQ(reply.size(), kMaxContent + 10);
}

TEST_F(FileOperationTest, ReadsAFileOfTheKernelThatTellsNoSize) {
  const FileReply reply = Read("/proc/self/status");
  EXPECT_EQ(reply.error(), 0);
  EXPECT_FALSE(reply.content().empty());
}

TEST_F(FileOperationTest, RefusesToReadOrWriteWhatIsNoFileWithoutBlocking) {
  ASSERT_EQ(mkfifo(At("fifo").c_str(), 0666), 0);
  ASSERT_EQ(mkdir(At("folder").c_str(), 0777), 0);
  fs::create_symlink("fifo", At("link"));
  const struct {
    std::string path;
    int error;
  } cases[] = {{At("fifo"), EINVAL}, {At("link"), EINVAL}, {"/dev/zero", EINVAL}, {At("folder"), EISDIR}};
  for (const auto& c : cases) {
    EXPECT_EQ(Read(c.path).error(), c.error) << c.path;
    EXPECT_EQ(Read(c.path).step(), "not_a_regular_file") << c.path;
    for (const auto if_exists : {WriteFile::OVERWRITE, WriteFile::APPEND}) {
      EXPECT_EQ(Write(c.path, "x", if_exists).error(), c.error) << c.path;
    }
    EXPECT_EQ(Write(c.path, "x", WriteFile::FAIL).error(), EEXIST) << c.path;
  }
  EXPECT_EQ(Names(), (std::vector<std::string>{"fifo", "folder", "link"}));
}

TEST_F(FileOperationTest, SaysWhyAFileCannotBeRead) {
  EXPECT_EQ(Read(At("missing")).error(), ENOENT);
  EXPECT_EQ(Read(At("missing/below")).error(), ENOENT);
  fs::create_symlink("loop", At("loop"));
  EXPECT_EQ(Read(At("loop")).error(), ELOOP);
}

TEST_F(FileOperationTest, CreatesAFile) {
  const FileReply reply = Write(At("new"), "content");
  EXPECT_EQ(reply.error(), 0) << reply.step();
  EXPECT_EQ(reply.wrote(), FileReply::CREATED);
  EXPECT_EQ(ContentOf("new"), "content");
  EXPECT_EQ(ModeOf("new"), 0644U);
  EXPECT_EQ(Names(), std::vector<std::string>{"new"});
}

TEST_F(FileOperationTest, ReplacesAFileAndKeepsItsMode) {
  MakeFile("old", "a longer content", 0750);
  const FileReply reply = Write(At("old"), "new");
  EXPECT_EQ(reply.error(), 0) << reply.step();
  EXPECT_EQ(reply.wrote(), FileReply::REPLACED);
  EXPECT_EQ(ContentOf("old"), "new");
  EXPECT_EQ(ModeOf("old"), 0750U);
  EXPECT_EQ(Names(), std::vector<std::string>{"old"});
}

TEST_F(FileOperationTest, ReplacesForAReaderAllAtOnce) {
  MakeFile("old", "before");
  const os::Fd reader(open(At("old").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(Write(At("old"), "after").error(), 0);
  EXPECT_EQ(os::ReadAll(reader.get(), 100).value_or(""), "before");
}

TEST_F(FileOperationTest, WritesTheLargestContentAndNoMore) {
  const std::string content(kMaxContent, 'x');
  EXPECT_EQ(Write(At("largest"), content).error(), 0);
  EXPECT_TRUE(ContentOf("largest") == content);
  EXPECT_EQ(Write(At("larger"), content + "x").error(), EFBIG);
  EXPECT_EQ(Names(), std::vector<std::string>{"largest"});
}

TEST_F(FileOperationTest, FailsWhenTheFileMustBeNew) {
  MakeFile("old", "before");
  const FileReply refused = Write(At("old"), "after", WriteFile::FAIL);
  EXPECT_EQ(refused.error(), EEXIST);
  EXPECT_EQ(ContentOf("old"), "before");
  const FileReply created = Write(At("new"), "content", WriteFile::FAIL);
  EXPECT_EQ(created.error(), 0);
  EXPECT_EQ(created.wrote(), FileReply::CREATED);
}

TEST_F(FileOperationTest, AppendsToAFileOrCreatesIt) {
  MakeFile("log", "one\n", 0640);
  const FileReply appended = Write(At("log"), "two\n", WriteFile::APPEND);
  EXPECT_EQ(appended.error(), 0);
  EXPECT_EQ(appended.wrote(), FileReply::APPENDED);
  EXPECT_EQ(ContentOf("log"), "one\ntwo\n");
  EXPECT_EQ(ModeOf("log"), 0640U);
  EXPECT_EQ(Write(At("new"), "content", WriteFile::APPEND).wrote(), FileReply::CREATED);
  EXPECT_EQ(ContentOf("new"), "content");
}

TEST_F(FileOperationTest, WritesThroughALink) {
  MakeFile("target", "before");
  fs::create_symlink("target", At("link"));
  EXPECT_EQ(Write(At("link"), "after").wrote(), FileReply::REPLACED);
  EXPECT_TRUE(fs::is_symlink(At("link")));
  EXPECT_EQ(ContentOf("target"), "after");
  EXPECT_EQ(Write(At("link"), "!", WriteFile::APPEND).wrote(), FileReply::APPENDED);
  EXPECT_EQ(ContentOf("target"), "after!");
}

TEST_F(FileOperationTest, ChangesNothingWhenTheContentIsCutOff) {
  MakeFile("old", "before");
  for (const auto if_exists : {WriteFile::OVERWRITE, WriteFile::APPEND}) {
    EXPECT_EQ(WriteSent(At("old"), "cut", 4, if_exists).error(), EPIPE);
    EXPECT_EQ(WriteSent(At("folder/new"), "", 4, if_exists).error(), EPIPE);
  }
  EXPECT_EQ(WriteSent(At("old"), "longer", 4).error(), EPIPE);
  EXPECT_EQ(ContentOf("old"), "before");
  EXPECT_EQ(Names(), std::vector<std::string>{"old"});
}

TEST_F(FileOperationTest, MakesParents) {
  const FileReply reply = Write(At("a/b/c/file"), "content");
  EXPECT_EQ(reply.error(), 0) << reply.step();
  EXPECT_EQ(ContentOf("a/b/c/file"), "content");
  MakeFile("plain", "");
  EXPECT_EQ(Write(At("plain/file"), "content").error(), ENOTDIR);
}

TEST_F(FileOperationTest, LeavesNoUnfinishedFileWhenTheDiskIsFull) {
  MakeFile("old", "before");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // A write past the limit fails like one to a full disk.
    signal(SIGXFSZ, SIG_IGN);
    const os::Fd in = MakeMemory(std::string(10'000, 'x'));
    const os::Fd out = MakeMemory("");
    proto::FileOperation operation;
    operation.mutable_write()->set_path(At("old"));
    operation.mutable_write()->set_size(10'000);
    const rlimit limit{4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    RunFileOperation(operation, in.get(), out.get());
    _exit(ReplyIn(out).error() == EFBIG ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(ContentOf("old"), "before");
  EXPECT_EQ(Names(), std::vector<std::string>{"old"});
}

TEST_F(FileOperationTest, RefusesAFileThatItsUserMayNotChange) {
  if (geteuid() != 0) GTEST_SKIP() << "changing the user needs root";
  MakeFile("read_only", "before", 0444);
  ASSERT_EQ(mkdir(At("closed").c_str(), 0755), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) _exit(2);
    const bool refused = Write(At("read_only"), "after").error() == EACCES &&
                         Write(At("read_only"), "after", WriteFile::APPEND).error() == EACCES &&
                         Write(At("closed/new"), "x").error() == EACCES &&
                         Write(At("closed/a/b"), "x").error() == EACCES;
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(ContentOf("read_only"), "before");
  EXPECT_EQ(Names(), (std::vector<std::string>{"closed", "read_only"}));
}

TEST_F(FileOperationTest, ListsSortedWithTypes) {
  MakeFile("b", "12345", 0640);
  ASSERT_EQ(mkdir(At("a").c_str(), 0750), 0);
  ASSERT_EQ(chmod(At("a").c_str(), 0750), 0);
  ASSERT_EQ(mkfifo(At("d").c_str(), 0600), 0);
  fs::create_symlink("/no/such/target", At("c"));
  MakeFile(".hidden\n\xff", "");
  const timespec modified{1'600'000'000, 123'456'789};
  const timespec times[2] = {modified, modified};
  ASSERT_EQ(utimensat(AT_FDCWD, At("b").c_str(), times, 0), 0);

  const FileReply reply = List(path_);
  ASSERT_EQ(reply.error(), 0);
  ASSERT_EQ(reply.entries_size(), 5);
  EXPECT_EQ(reply.entries(0).name(), ".hidden\n\xff");
  EXPECT_EQ(reply.entries(1).name(), "a");
  EXPECT_EQ(reply.entries(1).mode(), S_IFDIR | 0750U);
  EXPECT_EQ(reply.entries(2).name(), "b");
  EXPECT_EQ(reply.entries(2).mode(), S_IFREG | 0640U);
  EXPECT_EQ(reply.entries(2).size(), 5U);
  EXPECT_EQ(reply.entries(2).modified_ms(), 1'600'000'000'123);
  EXPECT_EQ(reply.entries(2).link_target(), "");
  EXPECT_EQ(reply.entries(3).name(), "c");
  EXPECT_EQ(reply.entries(3).mode() & S_IFMT, static_cast<unsigned>(S_IFLNK));
  EXPECT_EQ(reply.entries(3).link_target(), "/no/such/target");
  EXPECT_EQ(reply.entries(4).mode() & S_IFMT, static_cast<unsigned>(S_IFIFO));
}

TEST_F(FileOperationTest, ListsAsManyEntriesAsTheLimit) {
  EXPECT_EQ(List(path_, 0).error(), 0);
  for (const char* name : {"1", "2", "3"}) MakeFile(name, "");
  EXPECT_EQ(List(path_, 3).entries_size(), 3);
  const FileReply over = List(path_, 2);
  EXPECT_EQ(over.error(), EOVERFLOW);
  EXPECT_EQ(over.step(), "too_many_entries");
  EXPECT_EQ(over.entries_size(), 0);
}

TEST_F(FileOperationTest, ListsOnlyFolders) {
  MakeFile("file", "");
  ASSERT_EQ(mkfifo(At("fifo").c_str(), 0600), 0);
  EXPECT_EQ(List(At("file")).error(), ENOTDIR);
  EXPECT_EQ(List(At("fifo")).error(), ENOTDIR);
  EXPECT_EQ(List(At("missing")).error(), ENOENT);
}

TEST_F(FileOperationTest, TakesItsContentFromAPipe) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const os::Fd in(ends[0]);
  os::Fd writer(ends[1]);
  ASSERT_TRUE(os::WriteAll(writer.get(), "content"));
  writer.Reset();
  proto::FileOperation operation;
  operation.mutable_write()->set_path(At("file"));
  operation.mutable_write()->set_size(7);
  const os::Fd out = MakeMemory("");
  RunFileOperation(operation, in.get(), out.get());
  EXPECT_EQ(ReplyIn(out).wrote(), FileReply::CREATED);
  EXPECT_EQ(ContentOf("file"), "content");
}

TEST_F(FileOperationTest, AnswersARequestWithoutAnOperation) {
  const os::Fd out = MakeMemory("");
  RunFileOperation(proto::FileOperation(), -1, out.get());
  EXPECT_EQ(ReplyIn(out).error(), EINVAL);
}

// The unfinished file lies beside the target, whose name may already be as long as names can be.
TEST_F(FileOperationTest, WritesAFileWithTheLongestName) {
  const std::string longest(255, 'n');
  const FileReply reply = Write(At(longest), "content");
  EXPECT_EQ(reply.error(), 0) << reply.step();
  EXPECT_EQ(Write(At(longest), "again").wrote(), FileReply::REPLACED);
}

}  // namespace
}  // namespace caisson::guest
