#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <memory>
#include <thread>

#include "caisson/sandbox/files.h"
#include "support/sandbox_test.h"
#include "support/temp_folder.h"

// File operations inside a sandbox: what a command of the user could do, and no more.

namespace caisson::support {
namespace {

using sandbox::FileMatches;
using sandbox::Files;
using sandbox::FileSearch;
using sandbox::FileType;
using sandbox::FolderTree;
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

std::vector<std::string> PathsOf(const Result<FolderTree>& tree) {
  std::vector<std::string> paths;
  if (!tree) return {tree.error().message() + tree.error().cause()};
  for (const sandbox::TreeEntry& entry : tree->entries) paths.push_back(entry.path);
  return paths;
}

TEST_F(LibraryFiles, ATreeTellsWhatIsBelow) {
  Do("mkdir -p b/c && printf 12345 > b/c/d && ln -s b a && ln -s / root && printf '' > \"$(printf 'e\\n\\377')\"");
  const auto tree = files().Tree(".", 16, 100);
  ASSERT_EQ(PathsOf(tree), (std::vector<std::string>{"a", "b", "b/c", "b/c/d", "e\n\xff", "root"}));
  EXPECT_FALSE(tree->truncated);
  EXPECT_EQ(tree->seen, 6U);
  EXPECT_EQ(tree->entries[0].type, FileType::kSymlink);
  EXPECT_EQ(tree->entries[0].link_target, "b");
  EXPECT_EQ(tree->entries[2].type, FileType::kDirectory);
  EXPECT_EQ(tree->entries[3].size_bytes, 5U);
  EXPECT_EQ(tree->entries[3].mode, 0644U);
  EXPECT_GT(tree->entries[3].modified_unix_ms, 1'500'000'000'000);
  EXPECT_EQ(PathsOf(files().Tree("a", 1, 100)), std::vector<std::string>{"c"}) << "the path itself may be a link";
  const auto few = files().Tree(".", 2, 3);
  EXPECT_EQ(PathsOf(few), (std::vector<std::string>{"a", "b", "b/c"}));
  EXPECT_TRUE(few->truncated);
  for (const std::uint32_t wrong : {0U, 17U}) EXPECT_EQ(CodeOf(files().Tree(".", wrong, 1)), Code::kInvalidArgument);
  for (const std::uint32_t wrong : {0U, 10'001U})
    EXPECT_EQ(CodeOf(files().Tree(".", 1, wrong)), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(files().Tree("nosuch", 1, 1)), Code::kNotFound);
  EXPECT_EQ(CodeOf(files().Tree("/root", 1, 1)), Code::kPermissionDenied);
}

TEST_F(LibraryFiles, ATreeMarksWhatTheAgentMayNotRead) {
  const auto tree = files().Tree("/", 2, 10'000);
  ASSERT_TRUE(tree) << tree.error().message();
  const auto is_marked = [&](const std::string& path) {
    return std::any_of(tree->entries.begin(), tree->entries.end(),
                       [&](const auto& entry) { return entry.path == path && entry.is_unreadable; });
  };
  EXPECT_TRUE(is_marked("root"));
  EXPECT_FALSE(is_marked("usr"));
}

TEST_F(LibraryFiles, ATreeOfAHundredThousandEntriesGivesTheFirst) {
  Do("mkdir many && cd many && seq -f 'name%06g' 1 100000 | shuf | xargs touch");
  const auto before = std::chrono::steady_clock::now();
  const auto tree = files().Tree("many", 1, 1000);
  const auto after = std::chrono::steady_clock::now();
  ASSERT_TRUE(tree) << tree.error().message() << tree.error().cause();
  EXPECT_EQ(tree->entries.size(), 1000U);
  EXPECT_EQ(tree->entries.front().path, "name000001");
  EXPECT_EQ(tree->entries.back().path, "name001000");
  EXPECT_TRUE(tree->truncated);
  EXPECT_EQ(tree->seen, 100'000U);
  std::cout << "1,000 of 100,000 entries: "
            << std::chrono::duration_cast<std::chrono::milliseconds>(after - before).count() << " ms\n";
}

TEST_F(LibraryFiles, ALargestTreeFits) {
  Do("python3 -c \"import os\nos.makedirs('/'.join(['d' * 250] * 12))\nos.chdir('/'.join(['d' * 250] * 12))\n"
     "for i in range(10001): os.symlink('t' * 1000, f'{i:05}' + 'n' * 250)\"");
  const auto tree = files().Tree(".", 16, 10'000);
  ASSERT_TRUE(tree) << tree.error().message() << tree.error().cause();
  EXPECT_EQ(tree->entries.size(), 10'000U);
  EXPECT_EQ(tree->entries.back().path.size(), 12U * 251 + 255);
}

TEST_F(LibraryFiles, AFolderThatBecomesALinkLeadsNowhere) {
  Do("mkdir -p away tree/swapped && touch away/secret && ln -s ../away link");
  const auto swapper =
      box().Start(Script("python3 -c \"import ctypes\nc = ctypes.CDLL(None)\n"
                         "while True: c.renameat2(-100, b'link', -100, b'tree/swapped', 2)\""));
  ASSERT_TRUE(swapper);
  for (int i = 0; i < 200; ++i) {
    const auto tree = files().Tree("tree", 16, 100);
    ASSERT_TRUE(tree) << tree.error().message();
    EXPECT_EQ(PathsOf(tree), std::vector<std::string>{"swapped"});
  }
}

// Each match as "path:line:text".
std::vector<std::string> LinesOf(const Result<FileMatches>& found) {
  std::vector<std::string> lines;
  if (!found) return {found.error().message() + found.error().cause()};
  for (const sandbox::FileMatch& match : found->matches) {
    lines.push_back(match.path + ":" + std::to_string(match.line) + ":" + match.text);
  }
  return lines;
}

TEST_F(LibraryFiles, ASearchFindsLines) {
  Do("mkdir -p src/.git && printf 'one\\ntwo needle\\n' > src/a.py && echo needle | tee src/b.txt > src/.git/x &&"
     "printf 'needle\\0' > src/binary && mkfifo src/fifo && ln -s a.py src/link && ln -s / src/root &&"
     "echo 'Needle' > \"src/$(printf 'e\\n\\377')\" && echo needle > src/closed && chmod 0 src/closed");
  auto found = files().Search({.path = "src", .pattern = "n(e+)dle$"});
  EXPECT_EQ(LinesOf(found), (std::vector<std::string>{"a.py:2:two needle", "b.txt:1:needle"}));
  EXPECT_EQ(found->matches[0].column, 5U);
  EXPECT_FALSE(found->truncated);
  EXPECT_EQ(found->files_searched, 3U);
  EXPECT_EQ(found->files_skipped, 2U);
  found = files().Search({.pattern = "NEEDLE", .glob = "src/[!a]*", .letters = FileSearch::LetterCase::kIgnored});
  EXPECT_EQ(LinesOf(found), std::vector<std::string>()) << "a glob has no sets";
  found = files().Search({.pattern = "NEEDLE", .glob = "**/e*", .letters = FileSearch::LetterCase::kIgnored});
  EXPECT_EQ(LinesOf(found), (std::vector<std::string>{"src/e\n\xff:1:Needle"}));
  found = files().Search({.path = "src", .pattern = "needle", .limit = 1});
  EXPECT_EQ(LinesOf(found), (std::vector<std::string>{"a.py:2:two needle"}));
  EXPECT_TRUE(found->truncated);
  EXPECT_EQ(LinesOf(files().Search({.path = "src/.git", .pattern = "e"})), (std::vector<std::string>{"x:1:needle"}));
}

TEST_F(LibraryFiles, ASearchRefusesWhatItCannotDo) {
  Do("mkfifo fifo");
  const auto wrong = files().Search({.pattern = "a(b"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code(), Code::kInvalidArgument);
  EXPECT_EQ(wrong.error().cause(), "missing ): a(b");
  for (const FileSearch& search : std::vector<FileSearch>{{.pattern = std::string(4097, 'a')},
                                                          {.pattern = "a", .glob = std::string(4097, 'a')},
                                                          {.pattern = "a", .limit = 0},
                                                          {.pattern = "a", .limit = 1001},
                                                          {.path = "fifo", .pattern = "a"},
                                                          {.path = "/dev/zero", .pattern = "a"},
                                                          {.path = "", .pattern = "a"}}) {
    EXPECT_EQ(CodeOf(files().Search(search)), Code::kInvalidArgument) << search.path;
  }
  EXPECT_EQ(CodeOf(files().Search({.path = "nosuch", .pattern = "a"})), Code::kNotFound);
  EXPECT_EQ(CodeOf(files().Search({.path = "/root", .pattern = "a"})), Code::kPermissionDenied);
}

// The guest may be cloned from a thread with a small stack, and patterns nest.
TEST_F(LibraryFiles, ASearchForADeepPatternEnds) {
  ASSERT_TRUE(files().Write("file", std::string(2'000'000, 'a')));
  const auto plan = std::make_shared<const plan::KernelPlan>(
      plan::KernelPlan{{{.path = plan::kAgentWorkspace, .rights = plan::kReadFile | plan::kReadFolder},
                        {.path = "/proc", .rights = plan::kWriteFile}}});
  Files bound(box(), User::kAgent, plan);
  const std::string deep = std::string(900, '(') + "a" + std::string(900, ')') + "{900}";
  for (int i = 0; i < 2; ++i) {
    for (const std::string& pattern : {deep, std::string("(a?){300}(b|c)"), std::string("(a*)*b")}) {
      const auto found = bound.Search({.pattern = pattern});
      EXPECT_TRUE(found) << pattern << " " << found.error().message() << found.error().cause();
    }
  }
}

TEST_F(LibraryFiles, ASearchOfFiftyThousandFilesGivesWhatGrepGives) {
  Do("python3 -c \"import os\nfor i in range(50000):\n d = f'tree/{i // 1000}'\n"
     " if i % 1000 == 0: os.makedirs(d)\n"
     " open(f'{d}/{i}.txt', 'w').write('a line of text\\n' * 40 + f'number {i}\\n' + 'another line\\n' * 20)\"");
  const auto grep = [&] { return RunIn(box(), Script("grep -rnE 'number [0-9]*777$' tree | wc -l")).out.kept; };
  const auto timed = [](const char* what, const auto& act) {
    const auto before = std::chrono::steady_clock::now();
    auto result = act();
    const auto span = std::chrono::steady_clock::now() - before;
    std::cout << what << ": " << std::chrono::duration_cast<std::chrono::milliseconds>(span).count() << " ms\n";
    return result;
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(timed("grep -rn", grep), "50\n");
    const auto found =
        timed("search", [&] { return files().Search({.path = "tree", .pattern = "number [0-9]*777$"}); });
    ASSERT_TRUE(found) << found.error().message() << found.error().cause();
    EXPECT_EQ(found->matches.size(), 50U);
    EXPECT_EQ(found->files_searched, 50'000U);
  }
}

TEST_F(LibraryFiles, AKernelPlanBindsEveryOperation) {
  Do("mkdir -p mine/sub other && echo 1 > mine/file && echo 2 > other/file && ln -s ../other/file mine/out");
  // Of a plan that lets processes write to /proc, those after the first are bound in another way.
  const plan::FileGrant mine = {.path = std::string(plan::kAgentWorkspace) + "/mine",
                                .rights = plan::kReadFile | plan::kReadFolder | plan::kWriteFile | plan::kCreateFile};
  const plan::FileGrant proc = {.path = "/proc", .rights = plan::kWriteFile};
  for (const plan::KernelPlan& plan : {plan::KernelPlan{{mine}}, plan::KernelPlan{{mine, proc}}}) {
    Files bound(box(), User::kAgent, std::make_shared<const plan::KernelPlan>(plan));
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(PathsOf(bound.Tree("mine", 2, 9)), (std::vector<std::string>{"file", "out", "sub"}));
      EXPECT_EQ(CodeOf(bound.Tree("other", 1, 9)), Code::kPermissionDenied);
      EXPECT_EQ(CodeOf(bound.Tree(".", 1, 9)), Code::kPermissionDenied);
      EXPECT_EQ(CodeOf(bound.List("other")), Code::kPermissionDenied);
      EXPECT_EQ(LinesOf(bound.Search({.path = "mine", .pattern = "[12]"})), std::vector<std::string>{"file:1:1"});
      EXPECT_EQ(CodeOf(bound.Search({.path = "other", .pattern = "2"})), Code::kPermissionDenied);
      EXPECT_EQ(CodeOf(bound.Search({.path = "mine/out", .pattern = "2"})), Code::kPermissionDenied);
      EXPECT_TRUE(bound.Read("mine/file"));
      EXPECT_EQ(CodeOf(bound.Read("other/file")), Code::kPermissionDenied);
      EXPECT_EQ(CodeOf(bound.Read("mine/out")), Code::kPermissionDenied) << "through a link";
      EXPECT_EQ(CodeOf(bound.Write("other/file", "x")), Code::kPermissionDenied);
      EXPECT_EQ(CodeOf(bound.Write("other/new", "x")), Code::kPermissionDenied);
      EXPECT_EQ(CodeOf(bound.Remove("other/file")), Code::kPermissionDenied);
    }
  }
  EXPECT_TRUE(files().Read("other/file")) << "others are not bound";
}

}  // namespace
}  // namespace caisson::support
