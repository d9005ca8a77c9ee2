#include "caisson/storage/tracked_layer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>

#include "caisson/storage/overlay_fixture.h"

namespace caisson::storage {
namespace {

namespace fs = std::filesystem;
using plan::ChangeKind;

std::string Text(const plan::ChangeList& list) {
  constexpr const char* kKinds[] = {"created", "modified", "deleted", "metadata"};
  std::string text;
  for (const plan::Change& change : list.changes) {
    text += std::string(kKinds[static_cast<int>(change.kind)]) + " " + change.path + "\n";
  }
  return text + (list.truncated ? "truncated\n" : "");
}

class TrackedLayerTest : public OverlayFixture {
 protected:
  void SetUp() override {
    OverlayFixture::SetUp();
    if (IsSkipped()) return;
    fs::create_directories(lower() + "/docs/old/deep");
    Write(lower() + "/docs/one", "one");
    Write(lower() + "/docs/old/two", "two");
    Write(lower() + "/docs/old/deep/three", "three");
    Write(lower() + "/readme", "readme");
    fs::create_symlink("readme", lower() + "/link");
    MountOverlay();
    layer_.emplace(MakeOverlays(), TrackedLayer::Start::kNow);
  }

  std::vector<TrackedLayer::Overlay> MakeOverlays(const std::string& shown_at = "") const {
    std::vector<TrackedLayer::Overlay> overlays;
    overlays.push_back({shown_at, OpenFolder(upper()), OpenFolder(lower())});
    return overlays;
  }

  std::string Report() { return Text(layer_->Report(nullptr, plan::ReportScope::kEverything)); }

  std::optional<TrackedLayer> layer_;
};

TEST_F(TrackedLayerTest, NothingChangedIsAnEmptyList) {
  EXPECT_EQ(Report(), "");
  (void)fs::exists(Merged("docs/old/deep/three"));
  EXPECT_EQ(Report(), "");
}

TEST_F(TrackedLayerTest, FilesOfTheLayer) {
  Write(Merged("new"), "x");
  fs::create_directory(Merged("folder"));
  Write(Merged("folder/inner"), "y");
  EXPECT_EQ(Report(), "created /folder\ncreated /folder/inner\ncreated /new\n");
  Write(Merged("new"), "longer");
  chmod(Merged("folder/inner").c_str(), 0600);
  EXPECT_EQ(Report(), "metadata /folder/inner\nmodified /new\n");
  fs::remove_all(Merged("folder"));
  EXPECT_EQ(Report(), "deleted /folder\ndeleted /folder/inner\n");
  EXPECT_EQ(Report(), "");
}

TEST_F(TrackedLayerTest, FilesOfTheImage) {
  Write(Merged("docs/one"), "ONE");
  chmod(Merged("readme").c_str(), 0600);
  fs::remove(Merged("link"));
  EXPECT_EQ(Report(), "modified /docs/one\ndeleted /link\nmetadata /readme\n");
  fs::remove(Merged("docs/one"));
  fs::create_symlink("readme", Merged("link"));
  EXPECT_EQ(Report(), "deleted /docs/one\ncreated /link\n");
}

TEST_F(TrackedLayerTest, WhatIsUndoneInBetweenIsNoChange) {
  Write(Merged("gone"), "x");
  fs::remove(Merged("gone"));
  fs::rename(Merged("docs"), Merged("moved"));
  fs::rename(Merged("moved"), Merged("docs"));
  EXPECT_EQ(Report(), "");
}

TEST_F(TrackedLayerTest, WhatCannotBeReadIsNotTakenForUnchanged) {
  fs::create_directory(Merged("folder"));
  Write(Merged("folder/inner"), "x");
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
  const int next = dup(STDOUT_FILENO);  // the lowest that is free: with this limit no other can be opened
  ASSERT_GE(next, 0);
  close(next);
  const rlimit none{static_cast<rlim_t>(next), usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const std::string without_descriptors = Report();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
  EXPECT_EQ(without_descriptors, "truncated\n");
  EXPECT_EQ(Report(), "created /folder\ncreated /folder/inner\ntruncated\n");
  EXPECT_EQ(Report(), "");
}

TEST_F(TrackedLayerTest, AFolderOfTheImageIsRenamed) {
  fs::rename(Merged("docs"), Merged("moved"));
  EXPECT_EQ(Report(),
            "deleted /docs\ndeleted /docs/old\ndeleted /docs/old/deep\ndeleted /docs/old/deep/three\n"
            "deleted /docs/old/two\ndeleted /docs/one\ncreated /moved\ncreated /moved/old\n"
            "created /moved/old/deep\ncreated /moved/old/deep/three\ncreated /moved/old/two\ncreated /moved/one\n");
  Write(Merged("moved/old/two"), "22");
  fs::remove_all(Merged("moved/old/deep"));
  EXPECT_EQ(Report(), "deleted /moved/old/deep\ndeleted /moved/old/deep/three\nmodified /moved/old/two\n");
}

TEST_F(TrackedLayerTest, AFolderOfTheImageIsReplaced) {
  fs::remove_all(Merged("docs/old"));
  fs::create_directory(Merged("docs/old"));
  EXPECT_EQ(Report(), "deleted /docs/old/deep\ndeleted /docs/old/deep/three\ndeleted /docs/old/two\n");
  fs::remove_all(Merged("docs"));
  Write(Merged("docs"), "a file now");
  EXPECT_EQ(Report(), "modified /docs\ndeleted /docs/old\ndeleted /docs/one\n");
}

TEST_F(TrackedLayerTest, SameSizeSameTimeIsStillSeenAgainstTheImage) {
  struct stat before{};
  ASSERT_EQ(stat(Merged("readme").c_str(), &before), 0);
  Write(Merged("readme"), "README");
  const timespec times[] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, Merged("readme").c_str(), times, 0), 0);
  EXPECT_EQ(Report(), "modified /readme\n");
}

TEST_F(TrackedLayerTest, AttributesOfAFileAreMetadata) {
  const std::string file = Merged("readme");
  if (setxattr(file.c_str(), "user.colour", "red", 3, 0) != 0) GTEST_SKIP() << "no attributes of users here";
  EXPECT_EQ(Report(), "metadata /readme\n");
  ASSERT_EQ(setxattr(file.c_str(), "user.colour", "tan", 3, 0), 0);
  EXPECT_EQ(Report(), "metadata /readme\n");
  EXPECT_EQ(Report(), "");
  ASSERT_EQ(setxattr(Merged("docs/one").c_str(), "user.colour", "red", 3, 0), 0);
  ASSERT_EQ(removexattr(Merged("docs/one").c_str(), "user.colour"), 0);
  EXPECT_EQ(Report(), "");
}

TEST_F(TrackedLayerTest, TooMuchToCompareCountsAsModified) {
  fs::remove(Merged("docs/one"));
  fs::resize_file(lower() + "/readme", kMaxComparedBytes);  // a hole; the overlay has not looked at it yet
  fs::resize_file(lower() + "/docs/old/two", 4096);
  (void)layer_->Report(nullptr, plan::ReportScope::kEverything);
  for (const char* path : {"docs/old/two", "readme"}) chmod(Merged(path).c_str(), 0600);
  EXPECT_EQ(Report(), "metadata /docs/old/two\nmodified /readme\n");
}

TEST_F(TrackedLayerTest, OpeningForWritingAloneIsNoChange) {
  const os::Fd file(open(Merged("readme").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(file.valid());
  EXPECT_EQ(Report(), "");
}

TEST_F(TrackedLayerTest, AWriteThroughAMapping) {
  const os::Fd file(open(Merged("readme").c_str(), O_RDWR | O_CLOEXEC));
  void* memory = mmap(nullptr, 4, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  ASSERT_NE(memory, MAP_FAILED);
  static_cast<char*>(memory)[0] = 'R';
  munmap(memory, 4);
  EXPECT_EQ(Report(), "modified /readme\n");
}

TEST_F(TrackedLayerTest, ASecondNameIsCreatedAndTheFirstStays) {
  fs::create_hard_link(Merged("readme"), Merged("again"));
  EXPECT_EQ(Report(), "created /again\n");
  fs::remove(Merged("readme"));
  EXPECT_EQ(Report(), "deleted /readme\n");
}

TEST_F(TrackedLayerTest, OddNamesAndTypes) {
  mkfifo(Merged("fifo").c_str(), 0644);
  Write(Merged("line\nbreak"), "x");
  Write(Merged("not\xff utf8"), "x");
  const plan::ChangeList list = layer_->Report(nullptr, plan::ReportScope::kEverything);
  EXPECT_EQ(Text(list), "created /fifo\ncreated /line\nbreak\ncreated /not\xff utf8\n");
  EXPECT_EQ(list.changes[0].type, plan::EntryType::kOther);
  EXPECT_EQ(list.changes[1].type, plan::EntryType::kFile);
  EXPECT_EQ(list.changes[1].size_bytes, 1U);
}

TEST_F(TrackedLayerTest, ALongListIsCutAndSaysSo) {
  for (int i = 0; i < 1500; ++i) Write(Merged("file" + std::to_string(i)), "x");
  const plan::ChangeList list = layer_->Report(nullptr, plan::ReportScope::kEverything);
  EXPECT_EQ(list.changes.size(), plan::kMaxChanges);
  EXPECT_TRUE(list.truncated);
  // What did not fit is not news the next time.
  EXPECT_EQ(Report(), "");
}

TEST_F(TrackedLayerTest, VeryDeepFoldersAreReadAsFarAsPathsReach) {
  os::Fd folder = OpenFolder(merged());
  for (int i = 0; i < 3000; ++i) {
    ASSERT_EQ(mkdirat(folder.get(), "d", 0755), 0);
    folder = os::Fd(openat(folder.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(folder.valid());
  }
  const plan::ChangeList list = layer_->Report(nullptr, plan::ReportScope::kEverything);
  EXPECT_TRUE(list.truncated);
  EXPECT_EQ(list.changes.front().path, "/d");
}

TEST_F(TrackedLayerTest, EverythingInTheLayerIsAChangeWhenItIsTakenForEmpty) {
  Write(Merged("docs/one"), "11");
  Write(Merged("new"), "x");
  TrackedLayer later(MakeOverlays("/home/agent/workspace"), TrackedLayer::Start::kEmptyUppers);
  EXPECT_EQ(Text(later.Report(nullptr, plan::ReportScope::kEverything)),
            "modified /home/agent/workspace/docs/one\ncreated /home/agent/workspace/new\n");
  const auto sides = later.Open("/home/agent/workspace/docs/one");
  EXPECT_EQ(os::ReadAll(sides.before.get(), 100).value_or(""), "one");
  EXPECT_EQ(os::ReadAll(sides.after.get(), 100).value_or(""), "11");
}

// The same layer on a tmpfs of its own, with a queue that tells what was touched.
class WatchedLayerTest : public OverlayFixture {
 protected:
  void SetUp() override {
    OverlayFixture::SetUp();
    if (IsSkipped()) return;
    UseTmpfs();
    auto watch = ChangeWatch::Start();
    if (!watch) GTEST_SKIP() << watch.error().message();
    watch_.emplace(*std::move(watch));
    for (int i = 0; i < 50; ++i) Write(lower() + "/old" + std::to_string(i), "old");
    MountOverlay();
    ASSERT_TRUE(watch_->Watch(OpenFolder(upper()), OpenFolder(upper())));
    std::vector<TrackedLayer::Overlay> overlays;
    overlays.push_back({"", OpenFolder(upper()), OpenFolder(lower())});
    layer_.emplace(std::move(overlays), TrackedLayer::Start::kNow);
  }

  std::string Report() {
    struct stat info{};
    EXPECT_EQ(stat(upper().c_str(), &info), 0);
    const ChangeWatch::Names touched = watch_->Take(info.st_dev);
    EXPECT_FALSE(touched.lost);
    return Text(layer_->Report(&touched, plan::ReportScope::kClosedFiles));
  }

  std::optional<ChangeWatch> watch_;
  std::optional<TrackedLayer> layer_;
};

TEST_F(WatchedLayerTest, AWriteThroughAMappingOfAFileOfTheLayer) {
  Write(Merged("mapped"), "some text");
  EXPECT_EQ(Report(), "created /mapped\n");
  {
    const os::Fd file(open(Merged("mapped").c_str(), O_RDWR | O_CLOEXEC));
    void* memory = mmap(nullptr, 4, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    ASSERT_NE(memory, MAP_FAILED);
    static_cast<char*>(memory)[0] = 'S';
    munmap(memory, 4);
  }
  EXPECT_EQ(Report(), "modified /mapped\n");
  EXPECT_EQ(Report(), "");
}

TEST_F(WatchedLayerTest, ASecondNameShowsTheSameWrite) {
  Write(Merged("first"), "x");
  fs::create_hard_link(Merged("first"), Merged("second"));
  EXPECT_EQ(Report(), "created /first\ncreated /second\n");
  Write(Merged("first"), "longer");
  EXPECT_EQ(Report(), "modified /first\nmodified /second\n");
}

TEST_F(WatchedLayerTest, WhatIsInARenamedFolderIsFoundWhereItIs) {
  fs::create_directories(Merged("a/b"));
  Write(Merged("a/b/file"), "x");
  (void)Report();
  fs::rename(Merged("a"), Merged("z"));
  Write(Merged("z/b/file"), "longer");
  EXPECT_EQ(Report(), "deleted /a\ndeleted /a/b\ndeleted /a/b/file\ncreated /z\ncreated /z/b\ncreated /z/b/file\n");
  Write(Merged("z/b/file"), "longer still");
  chmod(Merged("z").c_str(), 0700);
  EXPECT_EQ(Report(), "metadata /z\nmodified /z/b/file\n");
}

TEST_F(WatchedLayerTest, ALostQueueIsMadeUpForByReadingAll) {
  for (int i = 0; i < 20'000; ++i) Write(Merged("many" + std::to_string(i)), "");
  struct stat info{};
  ASSERT_EQ(stat(upper().c_str(), &info), 0);
  ChangeWatch::Names touched = watch_->Take(info.st_dev);
  EXPECT_TRUE(touched.lost);
  EXPECT_TRUE(layer_->Report(&touched, plan::ReportScope::kClosedFiles).truncated);
  Write(Merged("one more"), "x");
  EXPECT_EQ(Report(), "created /one more\n");
}

TEST_F(TrackedLayerTest, AFileThatCameAlongWithItsFolderIsOpenedWhereItLies) {
  fs::rename(Merged("docs"), Merged("moved"));
  fs::remove(Merged("moved/one"));
  (void)layer_->Report(nullptr, plan::ReportScope::kEverything);
  const auto content = [&](const std::string& path) {
    const auto sides = layer_->Open(path);
    return sides.after.valid() ? os::ReadAll(sides.after.get(), 100).value_or("") : "none";
  };
  EXPECT_EQ(content("/moved/old/two"), "two");
  EXPECT_EQ(content("/moved/old/deep/three"), "three");
  EXPECT_EQ(content("/moved/one"), "none");
  EXPECT_EQ(content("/docs/old/two"), "none");
  EXPECT_EQ(content("/readme"), "readme");
}

TEST_F(TrackedLayerTest, APlantedLinkLeadsNowhere) {
  fs::remove_all(Merged("docs"));
  fs::create_symlink("/etc", Merged("docs"));
  EXPECT_EQ(Report().find("passwd"), std::string::npos);
  EXPECT_FALSE(layer_->Open("/docs/passwd").after.valid());
}

}  // namespace
}  // namespace caisson::storage
