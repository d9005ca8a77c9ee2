#include "caisson/sandbox/file_patch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace caisson::sandbox {
namespace {

const os::Fd kNone;

os::Fd File(std::string_view content, mode_t mode = 0644) {
  os::Fd file(memfd_create("file_patch_test", MFD_CLOEXEC));
  EXPECT_TRUE(os::WriteAll(file.get(), content));
  EXPECT_EQ(fchmod(file.get(), mode), 0);
  return file;
}

os::Fd SparseFile(Bytes size) {
  os::Fd file = File("");
  EXPECT_EQ(ftruncate(file.get(), static_cast<off_t>(size.value)), 0);
  return file;
}

std::string Patch(const os::Fd& before, const os::Fd& after, Escaping escaping = Escaping::kNone) {
  PatchBudget budget;
  auto patch = FilePatch("/d/f", before, after, escaping, budget);
  EXPECT_TRUE(patch) << patch.error().message();
  EXPECT_EQ(budget.LeftOut(), "");
  return patch.value_or("");
}

std::string Repeat(std::string_view text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

TEST(FilePatch, ShowsThreeLinesAroundAChange) {
  EXPECT_EQ(Patch(File("1\n2\n3\n4\n5\n6\n7\n8\n9\n"), File("1\n2\n3\n4\nfive\n6\n7\n8\n9\n")),
            "diff --git a/d/f b/d/f\n--- a/d/f\n+++ b/d/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(FilePatch, ChangesWhoseContextsTouchShareAHunk) {
  const auto hunks = [](std::size_t between) {
    const std::string same = Repeat("=\n", between);
    const std::string patch = Patch(File("a\n" + same + "b\n"), File("A\n" + same + "B\n"));
    std::size_t count = 0;
    for (std::size_t at = patch.find("\n@@ "); at != std::string::npos; at = patch.find("\n@@ ", at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(hunks(6), 1U);
  EXPECT_EQ(hunks(7), 2U);
}

TEST(FilePatch, CreatedAndDeletedFiles) {
  EXPECT_EQ(Patch(kNone, File("x\ny\n", 0755)),
            "diff --git a/d/f b/d/f\nnew file mode 100755\n--- /dev/null\n+++ b/d/f\n@@ -0,0 +1,2 @@\n+x\n+y\n");
  EXPECT_EQ(Patch(File("x\n"), kNone),
            "diff --git a/d/f b/d/f\ndeleted file mode 100644\n--- a/d/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n");
  EXPECT_EQ(Patch(kNone, File("")), "diff --git a/d/f b/d/f\nnew file mode 100644\n");
  EXPECT_EQ(Patch(kNone, kNone), "");
}

TEST(FilePatch, AModeIsTheOwnersRightToExecute) {
  EXPECT_EQ(Patch(File("x\n", 0600), File("x\n", 0700)), "diff --git a/d/f b/d/f\nold mode 100644\nnew mode 100755\n");
  EXPECT_EQ(Patch(File("x\n", 0600), File("x\n", 0644)), "");
}

TEST(FilePatch, SaysWhereALastLineHasNoNewline) {
  EXPECT_EQ(
      Patch(File("a\nb"), File("a\nb\n")),
      "diff --git a/d/f b/d/f\n--- a/d/f\n+++ b/d/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n");
}

TEST(FilePatch, CarriageReturnsStayUnlessATerminalReads) {
  const std::string name = "diff --git a/d/f b/d/f\n--- a/d/f\n+++ b/d/f\n";
  EXPECT_EQ(Patch(File("a\n"), File("a\r\n")), name + "@@ -1 +1 @@\n-a\n+a\r\n");
  EXPECT_EQ(Patch(File("a\n"), File("a\r\n"), Escaping::kForTerminal), name + "@@ -1 +1 @@\n-a\n+a\\x0d\n");
  EXPECT_EQ(Patch(File("a\n"), File("\x1B[2J\n"), Escaping::kForTerminal), name + "@@ -1 +1 @@\n-a\n+\\x1b[2J\n");
}

TEST(FilePatch, NamesThatNeedItAreQuoted) {
  PatchBudget budget;
  EXPECT_EQ(
      FilePatch("/a\nb", kNone, File("x\n"), Escaping::kNone, budget).value_or(""),
      "diff --git \"a/a\\nb\" \"b/a\\nb\"\nnew file mode 100644\n--- /dev/null\n+++ \"b/a\\nb\"\n@@ -0,0 +1 @@\n+x\n");
  EXPECT_EQ(FilePatch("a b", File("x\n"), File(""), Escaping::kNone, budget).value_or(""),
            "diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n@@ -1 +0,0 @@\n-x\n");
}

TEST(FilePatch, BinaryContentIsNamedWithItsDigest) {
  // FIPS 180-2, appendix B.1: the digest of "abc".
  const std::string abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  EXPECT_EQ(
      Patch(File("abc"), File("a\xFF")),
      "diff --git a/d/f b/d/f\n--- a/d/f\n+++ b/d/f\nBinary files a/d/f and b/d/f differ\nbefore: 3 bytes, sha256 " +
          abc + "\nafter: 2 bytes, sha256 8dd06b5ab6b594257e41b7d8dd440a4062eddc67fdab5c13b4dc300176896f6e\n");
  EXPECT_NE(
      Patch(kNone, File(std::string_view("\0", 1))).find("Binary files /dev/null and b/d/f differ\nbefore: no file\n"),
      std::string::npos);
}

TEST(FilePatch, ANulBehindTheProbeIsText) {
  const std::string text = Repeat("x", 7'999) + "\n";
  EXPECT_EQ(Patch(File(text), File(text + std::string(1, '\0'))).find("Binary"), std::string::npos);
  EXPECT_NE(Patch(File(text), File(Repeat("x", 7'999) + std::string(1, '\0'))).find("Binary"), std::string::npos);
}

TEST(FilePatch, ContentOverALimitIsLarge) {
  const std::string million(std::size_t{1} << 20U, 'x');
  EXPECT_EQ(Patch(kNone, File(million)).find("Large"), std::string::npos);
  EXPECT_NE(Patch(kNone, File(million + "x"))
                .find("\nLarge files /dev/null and b/d/f differ\nbefore: no file\nafter: 1048577 "),
            std::string::npos);
  EXPECT_EQ(Patch(kNone, File(Repeat("\n", 50'000))).find("Large"), std::string::npos);
  EXPECT_NE(Patch(kNone, File(Repeat("\n", 50'000) + "x")).find("Large"), std::string::npos);
  // Equal contents are no change, however large.
  EXPECT_EQ(Patch(File(million + "x"), File(million + "x")), "");
  EXPECT_EQ(Patch(File(million + "x", 0600), File(million + "x", 0700)),
            "diff --git a/d/f b/d/f\nold mode 100644\nnew mode 100755\n");
}

TEST(FilePatch, SparseTerabytesAreNotRead) {
  const os::Fd before = SparseFile(GiB(2048));
  const os::Fd after = SparseFile(GiB(2049));
  const std::string sizes = "before: 2199023255552 bytes, no digest\nafter: ";
  EXPECT_EQ(Patch(before, after),
            "diff --git a/d/f b/d/f\n--- a/d/f\n+++ b/d/f\nBinary files a/d/f and b/d/f differ\n" + sizes +
                "2200096997376 bytes, no digest\n");
  EXPECT_EQ(Patch(before, before),
            "diff --git a/d/f b/d/f\n--- a/d/f\n+++ b/d/f\nBinary files a/d/f and b/d/f may differ\n" + sizes +
                "2199023255552 bytes, no digest\n");
}

TEST(FilePatch, ThereIsNoDigestBeyondAGibibyte) {
  const std::string patch = Patch(File("x\n"), SparseFile({GiB(1).value + 1}));
  EXPECT_NE(patch.find("after: 1073741825 bytes, no digest\n"), std::string::npos) << patch;
}

TEST(FilePatch, OnlyRegularFilesAreRead) {
  PatchBudget budget;
  const os::Fd device(open("/dev/zero", O_RDONLY | O_CLOEXEC));
  const os::Fd directory(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const os::Fd pipe_reader(ends[0]);
  const os::Fd pipe_writer(ends[1]);
  for (const os::Fd* file : {&device, &directory, &pipe_reader}) {
    const auto patch = FilePatch("x", kNone, *file, Escaping::kNone, budget);
    ASSERT_FALSE(patch);
    EXPECT_EQ(patch.error().code(), Code::kInvalidArgument);
  }
  const os::Fd path_only(open("/proc/self/exe", O_PATH | O_CLOEXEC));
  const auto patch = FilePatch("x", path_only, kNone, Escaping::kNone, budget);
  ASSERT_FALSE(patch);
  EXPECT_EQ(patch.error().errno_value(), EBADF);
}

TEST(FilePatch, TheOffsetOfADescriptorDoesNotMatter) {
  const os::Fd file = File("x\n");
  lseek(file.get(), 1, SEEK_SET);
  EXPECT_EQ(Patch(file, File("x\n")), "");
  EXPECT_EQ(lseek(file.get(), 0, SEEK_CUR), 1);
}

TEST(LinkPatch, HoldsTheTargetsAsContent) {
  PatchBudget budget;
  EXPECT_EQ(LinkPatch("/l", std::nullopt, "to", Escaping::kNone, budget),
            "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+to\n"
            "\\ No newline at end of file\n");
  EXPECT_EQ(LinkPatch("/l", "to", "\x1B", Escaping::kForTerminal, budget),
            "diff --git a/l b/l\nold mode 120000\nnew mode 120000\n--- a/l\n+++ b/l\n@@ -1 +1 @@\n-to\n"
            "\\ No newline at end of file\n+\\x1b\n\\ No newline at end of file\n");
  EXPECT_EQ(LinkPatch("/l", "to", "to", Escaping::kNone, budget), "");
}

TEST(PatchBudget, AFileThatDoesNotFitIsLeftOutAndNamed) {
  PatchBudget budget(PatchBudget::Limits{.output = KiB(1)});
  const auto patch = [&](std::string_view path, std::size_t lines) {
    return FilePatch(path, kNone, File(Repeat("line\n", lines)), Escaping::kNone, budget).value_or("error");
  };
  EXPECT_NE(patch("/first", 10), "");
  EXPECT_EQ(patch("/too long", 1000), "");
  EXPECT_NE(patch("/last", 10), "") << "what fits still comes";
  EXPECT_EQ(budget.LeftOut(),
            "diff --git a/too long b/too long\n--- a/too long\t\n+++ b/too long\t\nLeft out: 6103 bytes, more than "
            "what is left of "
            "1KiB for all files\n");
}

TEST(PatchBudget, TheNamesOfWhatIsLeftOutAreBounded) {
  PatchBudget budget;
  for (int i = 0; i < 5000; ++i) budget.LeaveOut("/file " + std::to_string(i), KiB(1));
  const std::string text = budget.LeftOut();
  EXPECT_LT(text.size(), PatchBudget::kNamesLimit.value + 100);
  EXPECT_NE(text.find(" more files\n"), std::string::npos);
}

TEST(PatchBudget, DigestsEnd) {
  PatchBudget budget(PatchBudget::Limits{.digested = {5}});
  const auto patch = FilePatch("x",
                               File("\xFF"
                                    "12"),
                               File("\xFF"
                                    "34"),
                               Escaping::kNone, budget);
  ASSERT_TRUE(patch);
  EXPECT_NE(patch->find("may differ\nbefore: 3 bytes, sha256 "), std::string::npos) << *patch;
  EXPECT_NE(patch->find("after: 3 bytes, no digest\n"), std::string::npos) << *patch;
}

TEST(PatchBudget, WithoutComparisonsAPatchIsStillRight) {
  PatchBudget budget(PatchBudget::Limits{.comparisons = 0});
  const auto patch = FilePatch("x", File("1\n2\n3\n"), File("3\n1\n2\n"), Escaping::kNone, budget);
  EXPECT_EQ(patch.value_or(""), "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n-1\n-2\n-3\n+3\n+1\n+2\n");
}

// The two programs that a patch is for.
class AppliedPatch : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "caisson_patch_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    if (std::system("patch --version >/dev/null 2>&1 && git --version >/dev/null 2>&1") != 0) {
      GTEST_SKIP() << "patch or git is not installed";
    }
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  static constexpr const char* kPatch = "patch --silent -p1 --no-backup-if-mismatch <../patch";
  static constexpr const char* kGit = "git apply --whitespace=nowarn ../patch";

  std::filesystem::path Tree() const { return folder_ / "tree"; }
  static void Write(const std::filesystem::path& path, std::string_view content) {
    std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
  }
  static std::string Read(const std::filesystem::path& path) {
    std::ostringstream content;
    content << std::ifstream(path, std::ios::binary).rdbuf();
    return content.str();
  }
  void NewTree() const {
    std::filesystem::remove_all(Tree());
    std::filesystem::create_directory(Tree());
  }
  // Lets one of the programs apply `patch` in the tree. The ceiling keeps git from a repository around it.
  bool Apply(const char* program, std::string_view patch) const {
    Write(folder_ / "patch", patch);
    const std::string command = "cd '" + Tree().string() + "' && GIT_CEILING_DIRECTORIES='" + folder_.string() +
                                "' LC_ALL=C " + program + " >../output 2>&1";
    return std::system(command.c_str()) == 0;  // NOLINT(bugprone-command-processor,cert-env33-c): our own words
  }

  std::filesystem::path folder_;
};

// A text of few different lines, among them what a reader of patches could take for its own, with all kinds of line
// ends.
std::string RandomText(std::mt19937& random) {
  static constexpr std::string_view kLines[] = {"",
                                                "x",
                                                "y",
                                                "{",
                                                "}",
                                                "--- a/f",
                                                "+++ b/f",
                                                "@@ -1 +1 @@",
                                                "-",
                                                "+",
                                                " ",
                                                "\\ No newline at end of file",
                                                "diff --git a/f b/f",
                                                "gr\xC3\xBC\xC3\x9F",
                                                "\x1B[2J",
                                                "tab\there",
                                                "cr\r"};
  std::string text;
  for (std::size_t left = random() % 30; left > 0; --left) {
    text += kLines[random() % std::size(kLines)];
    if (left > 1 || random() % 3 != 0) text += '\n';
  }
  return text;
}

std::string Edited(std::mt19937& random, const std::string& text) {
  std::string edited = text;
  for (std::size_t left = random() % 5; left > 0; --left) {
    const std::size_t at = random() % (edited.size() + 1);
    if (random() % 2 == 0) {
      edited.insert(at, random() % 2 == 0 ? "\n" : "new\n");
    } else {
      edited.erase(at, random() % 8);
    }
  }
  return edited;
}

TEST_F(AppliedPatch, RandomPairsBecomeWhatTheyShould) {
  std::mt19937 random(2024);
  int applied = 0;
  for (int i = 0; i < 500; ++i) {
    const std::string before = RandomText(random);
    const std::string after = random() % 2 == 0 ? RandomText(random) : Edited(random, before);
    const std::string patch = Patch(File(before), File(after));
    ASSERT_EQ(patch.empty(), before == after);
    if (patch.empty() || patch.find("Binary") != std::string::npos) continue;  // an edit cut a character
    ++applied;
    for (const char* program : {kPatch, kGit}) {
      NewTree();
      std::filesystem::create_directory(Tree() / "d");
      Write(Tree() / "d" / "f", before);
      ASSERT_TRUE(Apply(program, patch)) << program << ": " << Read(folder_ / "output") << patch;
      ASSERT_EQ(Read(Tree() / "d" / "f"), after) << program << ": pair " << i << "\n" << patch;
    }
  }
  EXPECT_GT(applied, 400);
}

TEST_F(AppliedPatch, ReportsOfManyFilesBecomeWhatTheyShould) {
  PatchBudget budget;
  const auto file = [&](std::string_view path, const os::Fd& before, const os::Fd& after) {
    return FilePatch(path, before, after, Escaping::kNone, budget).value_or("error");
  };
  const std::string names[] = {"/plain", "/with space", "/new\nline", "/quo\"te\\", "/\xFF\x1B", "/gr\xC3\xBC\xC3\x9F"};
  std::string patch = file("/deleted", File("old\n"), kNone) + file("/empty", kNone, File(""));
  for (const std::string& name : names)
    patch += file(name, File("1\n"), File("2\n")) + file(name + "+", kNone, File("n"));
  patch += file("/run", File("same\n"), File("same\n", 0755));
  patch += LinkPatch("/link", "old target", "new target", Escaping::kNone, budget);
  patch += LinkPatch("/new link", std::nullopt, "made", Escaping::kNone, budget);
  for (const char* program : {kPatch, kGit}) {
    NewTree();
    Write(Tree() / "deleted", "old\n");
    for (const std::string& name : names) Write(Tree() / name.substr(1), "1\n");
    Write(Tree() / "run", "same\n");
    std::filesystem::create_symlink("old target", Tree() / "link");
    ASSERT_TRUE(Apply(program, patch)) << program << ": " << Read(folder_ / "output") << patch;
    EXPECT_FALSE(std::filesystem::exists(Tree() / "deleted"));
    EXPECT_TRUE(std::filesystem::is_empty(Tree() / "empty"));
    for (const std::string& name : names) {
      EXPECT_EQ(Read(Tree() / name.substr(1)), "2\n") << program;
      EXPECT_EQ(Read(Tree() / (name.substr(1) + "+")), "n") << program;
    }
    struct stat status{};
    EXPECT_EQ(stat((Tree() / "run").c_str(), &status), 0);
    EXPECT_NE(status.st_mode & S_IXUSR, 0U) << program;
    EXPECT_EQ(std::filesystem::read_symlink(Tree() / "link"), "new target") << program;
    EXPECT_EQ(std::filesystem::read_symlink(Tree() / "new link"), "made") << program;
  }
}

TEST_F(AppliedPatch, GitRefusesAndPatchPassesOverWhatCannotBeDone) {
  PatchBudget budget;
  const std::string text = FilePatch("/text", kNone, File("x\n"), Escaping::kNone, budget).value_or("error");
  const std::string binary = FilePatch("/binary", kNone, File("\xFF"), Escaping::kNone, budget).value_or("error");
  const std::string large =
      FilePatch("/large", kNone, File(Repeat("\n", 60'000)), Escaping::kNone, budget).value_or("error");
  PatchBudget small(PatchBudget::Limits{.output = {1}});
  EXPECT_EQ(FilePatch("/left", kNone, File("x\n"), Escaping::kNone, small).value_or("error"), "");
  for (const std::string& part : {binary, large, small.LeftOut()}) {
    for (const std::string& whole : {text + part, part + text}) {
      NewTree();
      for (const char* name : {"binary", "large", "left"}) Write(Tree() / name, "as it was\n");
      EXPECT_FALSE(Apply(kGit, whole)) << whole;
      EXPECT_FALSE(std::filesystem::exists(Tree() / "text")) << whole;
      EXPECT_TRUE(Apply(kPatch, whole)) << whole;
      EXPECT_EQ(Read(Tree() / "text"), "x\n") << whole;
      for (const char* name : {"binary", "large", "left"}) EXPECT_EQ(Read(Tree() / name), "as it was\n") << whole;
    }
  }
}

}  // namespace
}  // namespace caisson::sandbox
