#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "caisson/sandbox/files.h"
#include "support/sandbox_test.h"
#include "support/temp_folder.h"

// File operations inside a sandbox: what a command of the user could do, and no more.

namespace caisson::support {
namespace {

using sandbox::Files;
using sandbox::FileType;
using sandbox::IfExists;
using sandbox::User;
using sandbox::Wrote;

class LibraryFiles : public SandboxTest {
 protected:
  Files files() { return Files(box()); }
  void Do(const std::string& script) { EXPECT_EQ(ExitCode(RunIn(box(), Script(script))), 0) << script; }
  template <typename T>
  static Code CodeOf(const Result<T>& result) {
    return result ? Code::kInternal : result.error().code();
  }
};

TEST_F(LibraryFiles, WhatIsWrittenIsRead) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += static_cast<char>(i);
  const auto made = files().Write("deep/er/file", bytes);
  ASSERT_TRUE(made) << made.error().message() << made.error().cause();
  EXPECT_EQ(*made, Wrote::kCreated);
  auto read = files().Read("/home/agent/workspace/deep/er/file");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->bytes, bytes);
  EXPECT_EQ(read->size_bytes, bytes.size());
  read = files().Read("deep/er/file", 990, Bytes{5});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->bytes, bytes.substr(990, 5));
  EXPECT_EQ(read->size_bytes, 1000U);
  read = files().Read("deep/er/file", 5000);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->bytes, "");
  Do("test $(stat -c '%u %a' deep/er/file | tr -d ' ') = 1000644");
}

TEST_F(LibraryFiles, SixteenMegabytesPass) {
  const std::string large(16U << 20U, 'x');
  ASSERT_TRUE(files().Write("large", large));
  const auto read = files().Read("large");
  ASSERT_TRUE(read) << read.error().message() << read.error().cause();
  EXPECT_TRUE(read->bytes == large);
  EXPECT_EQ(CodeOf(files().Write("larger", large + "x")), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(files().Read("large", 0, MiB(17))), Code::kInvalidArgument);
}

TEST_F(LibraryFiles, ExistingFilesAreReplacedAppendedOrKept) {
  ASSERT_TRUE(files().Write("file", "one"));
  Do("chmod 751 file");
  EXPECT_EQ(CodeOf(files().Write("file", "x", IfExists::kFail)), Code::kAlreadyExists);
  auto wrote = files().Write("file", "two");
  ASSERT_TRUE(wrote);
  EXPECT_EQ(*wrote, Wrote::kReplaced);
  Do("test $(stat -c %a file) = 751");
  wrote = files().Write("file", "+three", IfExists::kAppend);
  ASSERT_TRUE(wrote);
  EXPECT_EQ(*wrote, Wrote::kAppended);
  const auto read = files().Read("file");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->bytes, "two+three");
  Do("test $(ls -A | wc -l) = 1");
}

TEST_F(LibraryFiles, SpecialFilesNeitherBlockNorPass) {
  Do("mkfifo fifo; mkdir folder; ln -s loop loop; ln -s fifo to_fifo; ln -s /dev/zero to_zero");
  for (const char* path : {"fifo", "to_fifo", "/dev/zero", "to_zero", "/dev/tty"}) {
    EXPECT_FALSE(files().Read(path)) << path;
    EXPECT_FALSE(files().Write(path, "x")) << path;
  }
  EXPECT_EQ(CodeOf(files().Read("fifo")), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(files().Read("folder")), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(files().Write("folder", "x")), Code::kInvalidArgument);
  EXPECT_FALSE(files().Read("loop"));
  EXPECT_FALSE(files().Write("loop", "x"));
  EXPECT_FALSE(files().List("loop"));
  EXPECT_EQ(CodeOf(files().Read("nosuch")), Code::kNotFound);
  EXPECT_EQ(CodeOf(files().List("nosuch")), Code::kNotFound);
}

TEST_F(LibraryFiles, PathsThatAreNone) {
  for (const std::string& path : {std::string(), std::string("a\0b", 3), std::string(5000, 'p')}) {
    EXPECT_EQ(CodeOf(files().Read(path)), Code::kInvalidArgument);
    EXPECT_EQ(CodeOf(files().Write(path, "x")), Code::kInvalidArgument);
    EXPECT_EQ(CodeOf(files().List(path)), Code::kInvalidArgument);
  }
  EXPECT_FALSE(files().Write(std::string(300, 'n'), "x"));
}

TEST_F(LibraryFiles, AListTellsWhatIsThere) {
  Do("printf 12345 > b; mkdir -m 700 a; mkfifo c; ln -s /nowhere/at/all d; printf '' > \"$(printf 'e\\377')\"");
  const auto list = files().List(".");
  ASSERT_TRUE(list);
  ASSERT_EQ(list->size(), 5U);
  EXPECT_EQ((*list)[0].name, "a");
  EXPECT_EQ((*list)[0].type, FileType::kDirectory);
  EXPECT_EQ((*list)[0].mode, 0700U);
  EXPECT_EQ((*list)[1].type, FileType::kFile);
  EXPECT_EQ((*list)[1].size_bytes, 5U);
  EXPECT_GT((*list)[1].modified_unix_ms, 1'500'000'000'000);
  EXPECT_EQ((*list)[2].type, FileType::kFifo);
  EXPECT_EQ((*list)[3].type, FileType::kSymlink);
  EXPECT_EQ((*list)[3].link_target, "/nowhere/at/all");
  EXPECT_EQ((*list)[4].name, "e\xff");
}

TEST_F(LibraryFiles, AHugeFolderIsRefusedAndALargeOneListed) {
  Do("mkdir large && cd large && seq 1 10000 | xargs touch");
  const auto list = files().List("large");
  ASSERT_TRUE(list) << list.error().message() << list.error().cause();
  EXPECT_EQ(list->size(), 10000U);
  Do("touch large/one_more");
  EXPECT_EQ(CodeOf(files().List("large")), Code::kResourceExhausted);
}

TEST_F(LibraryFiles, LongNamesOfAFullFolderFit) {
  Do("mkdir wide && cd wide && python3 -c \"import os\nfor i in range(9999): os.symlink('t' * 1000, f'{i:05}' + 'n' * "
     "250)\"");
  const auto list = files().List("wide");
  ASSERT_TRUE(list) << list.error().message() << list.error().cause();
  EXPECT_EQ(list->size(), 9999U);
}

TEST_F(LibraryFiles, AgentMayNotWhatItsCommandsMayNot) {
  EXPECT_EQ(CodeOf(files().Write("/etc/new", "x")), Code::kPermissionDenied);
  EXPECT_EQ(CodeOf(files().Write("/etc/passwd", "x")), Code::kPermissionDenied);
  EXPECT_EQ(CodeOf(files().List("/root")), Code::kPermissionDenied);
  EXPECT_FALSE(files().Write("/usr/new", "x"));
  EXPECT_FALSE(files().Write("/proc/sys/kernel/hostname", "x"));
  EXPECT_FALSE(files().Read("/proc/1/environ"));
}

TEST_F(LibraryFiles, RootMayMore) {
  Files root(box(), User::kRoot);
  ASSERT_TRUE(root.Write("/etc/new", "by root"));
  const auto read = files().Read("/etc/new");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->bytes, "by root");
  EXPECT_TRUE(root.List("/root"));
  EXPECT_FALSE(root.Write("/usr/new", "x")) << "the host's programs";
  EXPECT_FALSE(root.Write("/proc/sys/kernel/hostname", "x"));
}

TEST_F(LibraryFiles, LinksOfTheSandboxStayInside) {
  const TempFolder outside;
  WriteFile(outside / "secret", "a secret of the host");
  Do("ln -s " + (outside / "secret") +
     " secret; ln -s / root; ln -s ../../../../../.. up; ln -s /proc/1/root proc_root");
  for (const std::string& path :
       {std::string("secret"), "root" + (outside / "secret"), "up" + (outside / "secret"),
        "proc_root" + (outside / "secret"), outside / "secret", "/proc/self/root" + (outside / "secret")}) {
    for (const User user : {User::kAgent, User::kRoot}) {
      // The name may exist inside once it was written to there; the host's file is another one.
      const auto read = Files(box(), user).Read(path);
      EXPECT_TRUE(!read || read->bytes == "overwritten") << path;
      (void)Files(box(), user).Write(path, "overwritten");
    }
  }
  EXPECT_EQ(ReadFile(outside / "secret"), "a secret of the host");
}

TEST_F(LibraryFiles, AFullDiskIsAnErrorAndKeepsTheOldContent) {
  sandbox::SandboxSpec small;
  small.limits.disk = MiB(2);
  Replace(std::move(small));
  ASSERT_TRUE(files().Write("file", "old"));
  EXPECT_EQ(CodeOf(files().Write("file", std::string(4U << 20U, 'x'))), Code::kResourceExhausted);
  const auto read = files().Read("file");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->bytes, "old");
  Do("test $(ls -A | wc -l) = 1");
}

TEST_F(LibraryFiles, FromSeveralThreadsAtOnce) {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const std::string name = "file" + std::to_string(t);
      for (int i = 0; i < 20; ++i) {
        const std::string content = name + "." + std::to_string(i);
        const auto wrote = files().Write(name, content);
        const auto read = files().Read(name);
        if (wrote && read && read->bytes == content) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 160);
}

TEST_F(LibraryFiles, AWriterAndReadersSeeWholeContents) {
  ASSERT_TRUE(files().Write("file", std::string(100000, 'a')));
  std::atomic<bool> over{false};
  std::thread writer([&] {
    for (int i = 0; i < 30; ++i) EXPECT_TRUE(files().Write("file", std::string(100000, i % 2 == 0 ? 'b' : 'a')));
    over = true;
  });
  while (!over) {
    const auto read = files().Read("file");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->bytes, std::string(100000, read->bytes.empty() ? '?' : read->bytes[0]));
  }
  writer.join();
}

}  // namespace
}  // namespace caisson::support
