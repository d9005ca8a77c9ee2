#include "caisson/storage/btrfs_layers.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/btrfs.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "caisson/os/mount.h"
#include "caisson/storage/scratch_store.h"

namespace caisson::storage {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

class BtrfsLayersTest : public ScratchStoreTest {
 protected:
  void SetUp() override {
    ScratchStoreTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    PrepareHost();
    OpenLayers();
  }
  virtual void PrepareHost() {}
  void OpenLayers() {
    auto store = Open();
    ASSERT_TRUE(store) << Text(store.error());
    root_ = os::Fd(open((path_ + "/store").c_str(), kDirectory));
    layers_.emplace(std::move(*store));
  }
  void TearDown() override {
    layers_.reset();
    root_.Reset();
    ScratchStoreTest::TearDown();
  }

  os::Fd Create(const std::string& name, Bytes limit) {
    auto layer = layers_->CreateLayer(name, limit);
    EXPECT_TRUE(layer) << Text(layer.error());
    return layer ? std::move(*layer) : os::Fd();
  }
  // Writes and flushes; returns the errno that stopped it, 0 when nothing did.
  static int Fill(const os::Fd& folder, const char* name, Bytes size) {
    const os::Fd file(openat(folder.get(), name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    if (!file.valid()) return errno;
    const std::string block(64U << 10U, 'x');
    for (std::uint64_t done = 0; done < size.value; done += block.size()) {
      if (write(file.get(), block.data(), block.size()) < 0) return errno;
    }
    return fsync(file.get()) == 0 ? 0 : errno;
  }
  Bytes Used(const std::string& name) {
    EXPECT_TRUE(os::SyncFileSystem(root_));
    const auto usage = layers_->Usage(name);
    EXPECT_TRUE(usage) << Text(usage.error());
    return usage ? usage->used : Bytes{};
  }
  std::vector<std::string> Layers() { return layers_->ListLayers(); }
  // All groups of a higher level, with those of deleted layers.
  std::size_t Groups() {
    const auto groups = os::ReadQuotaUsage(root_, os::QuotaGroup::Of(1, 0), os::QuotaGroup{~std::uint64_t{0}});
    EXPECT_TRUE(groups);
    return groups ? groups->size() : 0;
  }
  // Until the kernel's cleaner is through, which a sync wakes.
  void CollectAll() {
    std::size_t left = 1;
    for (int i = 0; i < 3000 && left != 0; ++i) {
      ASSERT_TRUE(os::SyncFileSystem(root_));
      left = layers_->CollectGroups();
      usleep(10000);
    }
    EXPECT_EQ(left, 0U);
    EXPECT_EQ(Groups(), 0U);
  }

  os::Fd root_;
  std::optional<BtrfsLayers> layers_;
};

TEST_F(BtrfsLayersTest, MakesAFolderThatOnlyRootMayEnterAndLocksIt) {
  const os::Fd layer = Create("sb_a", MiB(16));
  struct stat info{};
  ASSERT_EQ(fstat(layer.get(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0700U);
  EXPECT_EQ(info.st_uid, 0U);
  const os::Fd other(open((path_ + "/store/layers/sb_a").c_str(), kDirectory));
  EXPECT_EQ(flock(other.get(), LOCK_EX | LOCK_NB), -1);
  EXPECT_EQ(Layers(), std::vector<std::string>{"sb_a"});
  const auto again = layers_->CreateLayer("sb_a", MiB(16));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), Code::kAlreadyExists);
  EXPECT_EQ(Groups(), 1U) << "the refused layer left its group";
}

TEST_F(BtrfsLayersTest, RefusesNamesAndLimitsThatAreNone) {
  for (const char* name : {"", ".", "..", ".hidden", "a/b", "../a", "a b", "a\n", "\xff"}) {
    EXPECT_EQ(layers_->CreateLayer(name, MiB(16)).error().code(), Code::kInvalidArgument) << name;
    EXPECT_EQ(layers_->DeleteLayer(name).error().code(), Code::kInvalidArgument) << name;
    EXPECT_EQ(layers_->Snapshot("a", name).error().code(), Code::kInvalidArgument) << name;
    EXPECT_EQ(layers_->Usage(name).error().code(), Code::kInvalidArgument) << name;
  }
  EXPECT_FALSE(layers_->CreateLayer(std::string(65, 'a'), MiB(16)));
  EXPECT_EQ(layers_->CreateLayer("a", KiB(512)).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(Groups(), 0U);
}

TEST_F(BtrfsLayersTest, TheKernelHoldsTheLimitAlsoForOtherUsersFiles) {
  const os::Fd layer = Create("sb_a", MiB(16));
  const Bytes empty = Used("sb_a");
  ASSERT_EQ(Fill(layer, "small", MiB(8)), 0);
  ASSERT_EQ(fchownat(layer.get(), "small", 1879179264, 1879179264, 0), 0);
  EXPECT_GE(Used("sb_a").value, MiB(8).value);
  EXPECT_EQ(Fill(layer, "large", MiB(64)), EDQUOT);
  EXPECT_LE(Used("sb_a"), MiB(16));
  ASSERT_EQ(unlinkat(layer.get(), "small", 0), 0);
  ASSERT_EQ(unlinkat(layer.get(), "large", 0), 0);
  EXPECT_LE(Used("sb_a").value, empty.value + KiB(64).value);
  EXPECT_EQ(Fill(layer, "again", MiB(8)), 0);
}

TEST_F(BtrfsLayersTest, OneLayerDoesNotTakeFromAnother) {
  const os::Fd a = Create("sb_a", MiB(8));
  const os::Fd b = Create("sb_b", MiB(32));
  EXPECT_EQ(Fill(a, "f", MiB(64)), EDQUOT);
  EXPECT_EQ(Fill(b, "f", MiB(24)), 0);
}

TEST_F(BtrfsLayersTest, SnapshotsDoNotRaiseTheLimit) {
  const os::Fd layer = Create("sb_a", MiB(16));
  const Bytes empty = Used("sb_a");
  // Each keeps what the layer then writes anew: the whole of it is bounded.
  int stopped = 0;
  for (int i = 0; i < 10; ++i) {
    if (stopped == 0) stopped = Fill(layer, "f", MiB(4));
    const auto snapshot = layers_->Snapshot("sb_a", "s" + std::to_string(i));
    ASSERT_TRUE(snapshot) << Text(snapshot.error());
    EXPECT_EQ(unlinkat(snapshot->get(), "f", 0), -1);
    unlinkat(layer.get(), "f", 0);
  }
  EXPECT_EQ(stopped, EDQUOT);
  // A snapshot's own root block, made by us, is counted but not refused.
  EXPECT_LE(Used("sb_a").value, MiB(16).value + KiB(256).value);
  const auto names = layers_->ListSnapshots("sb_a");
  ASSERT_TRUE(names);
  EXPECT_EQ(names->size(), 10U);
  for (const std::string& name : *names) EXPECT_TRUE(layers_->DeleteSnapshot("sb_a", name));
  for (int i = 0; i < 1000 && Used("sb_a").value > empty.value + KiB(64).value; ++i) usleep(10000);
  EXPECT_LE(Used("sb_a").value, empty.value + KiB(64).value);
  EXPECT_EQ(Fill(layer, "g", MiB(8)), 0);
}

TEST_F(BtrfsLayersTest, ADeletedLayerGivesEverythingBack) {
  const auto before = layers_->Pool();
  ASSERT_TRUE(before);
  {
    const os::Fd layer = Create("sb_a", MiB(64));
    ASSERT_EQ(Fill(layer, "f", MiB(32)), 0);
    ASSERT_TRUE(layers_->Snapshot("sb_a", "s"));
    ASSERT_EQ(Fill(layer, "g", MiB(16)), 0);
    ASSERT_TRUE(layers_->DeleteLayer("sb_a"));
    EXPECT_TRUE(layers_->DeleteLayer("sb_a")) << "twice is no error";
    EXPECT_EQ(Layers(), std::vector<std::string>());
    // Sealed: whoever still has a file open writes no more.
    const auto during = layers_->Pool();
    ASSERT_TRUE(during);
    EXPECT_LT(during->promises.rest, MiB(1));
  }
  CollectAll();
  const auto after = layers_->Pool();
  ASSERT_TRUE(after);
  EXPECT_EQ(after->promises.total, Bytes{});
  // Space comes back with the commits that free it.
  const auto all_back = [&] {
    const auto pool = layers_->Pool();
    struct stat info{};
    return os::SyncFileSystem(root_) && pool && pool->pool.free.value + MiB(4).value >= before->pool.free.value &&
           stat(FilePath().c_str(), &info) == 0 && info.st_blocks * 512 < 32L << 20U;
  };
  bool back = all_back();
  for (int i = 0; i < 1000 && !back; ++i) {
    usleep(10000);
    back = all_back();
  }
  EXPECT_TRUE(back) << "the store or the host did not get its space back";
}

TEST_F(BtrfsLayersTest, AnOpenFileOfADeletedLayerTakesNoMore) {
  const os::Fd layer = Create("sb_a", MiB(64));
  const os::Fd file(openat(layer.get(), "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  const std::string block(1U << 20U, 'x');
  ASSERT_EQ(write(file.get(), block.data(), block.size()), 1 << 20);
  ASSERT_TRUE(layers_->DeleteLayer("sb_a"));
  int stopped = 0;
  for (int i = 0; i < 32 && stopped == 0; ++i) {
    if (write(file.get(), block.data(), block.size()) < 0 || fsync(file.get()) != 0) stopped = errno;
  }
  EXPECT_EQ(stopped, EDQUOT);
}

TEST_F(BtrfsLayersTest, AFullLayerIsDeleted) {
  const os::Fd layer = Create("sb_a", MiB(1));
  ASSERT_EQ(Fill(layer, "f", MiB(4)), EDQUOT);
  int i = 0;
  while (Fill(layer, ("f" + std::to_string(i)).c_str(), {}) == 0) ++i;
  const Status deleted = layers_->DeleteLayer("sb_a");
  EXPECT_TRUE(deleted) << Text(deleted.error());
  EXPECT_EQ(Layers(), std::vector<std::string>());
}

TEST_F(BtrfsLayersTest, DeletesSubvolumesMadeInside) {
  const os::Fd layer = Create("sb_a", MiB(16));
  ASSERT_EQ(mkdirat(layer.get(), "folder", 0755), 0);
  const os::Fd folder(openat(layer.get(), "folder", kDirectory));
  ASSERT_TRUE(os::CreateSubvolume(folder, "inner", std::nullopt));
  const os::Fd inner(openat(folder.get(), "inner", kDirectory));
  ASSERT_TRUE(os::CreateSubvolume(inner, "innermost", std::nullopt));
  const Status deleted = layers_->DeleteLayer("sb_a");
  EXPECT_TRUE(deleted) << Text(deleted.error());
  EXPECT_EQ(Layers(), std::vector<std::string>());
}

TEST_F(BtrfsLayersTest, LeftOversAreWhatNobodyHasLocked) {
  os::Fd kept = Create("kept", MiB(16));
  (void)Create("left", MiB(16));
  ASSERT_TRUE(layers_->Snapshot("left", "s"));
  // Half made: no group, no lock.
  ASSERT_TRUE(os::CreateSubvolume(os::Fd(openat(root_.get(), "layers", kDirectory)), "half", std::nullopt));
  ASSERT_EQ(mkdirat(root_.get(), "snapshots/orphan", 0700), 0);
  layers_->RemoveLeftOvers();
  EXPECT_EQ(Layers(), std::vector<std::string>{"kept"});
  struct stat info{};
  EXPECT_NE(fstatat(root_.get(), "snapshots/orphan", &info, 0), 0);
  EXPECT_NE(fstatat(root_.get(), "snapshots/left", &info, 0), 0);
  EXPECT_EQ(Fill(kept, "f", MiB(1)), 0);
  ASSERT_TRUE(layers_->DeleteLayer("kept"));
  kept.Reset();
  CollectAll();
}

TEST_F(BtrfsLayersTest, LeavesTheGroupsOfOthersAlone) {
  const os::QuotaGroup theirs = os::QuotaGroup::Of(1, 42);
  ASSERT_TRUE(os::CreateQuotaGroup(root_, theirs));
  (void)layers_->CollectGroups();
  EXPECT_EQ(Groups(), 1U);
  EXPECT_TRUE(os::RemoveQuotaGroup(root_, theirs));
}

TEST_F(BtrfsLayersTest, KilledProcessesLeaveNothingForLong) {
  for (int i = 0; i < 10; ++i) {
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      for (int n = 0;; ++n) {
        const std::string name = "sb_" + std::to_string(n);
        const auto layer = layers_->CreateLayer(name, MiB(16));
        if (!layer) fprintf(stderr, "%s\n", Text(layer.error()).c_str());
        if (!layer || !layers_->DeleteLayer(name)) _exit(1);
      }
    }
    usleep(static_cast<useconds_t>(300 + 250 * i));
    ASSERT_EQ(kill(pid, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFSIGNALED(status));
    layers_->RemoveLeftOvers();
    EXPECT_EQ(Layers(), std::vector<std::string>());
  }
  CollectAll();
}

TEST_F(BtrfsLayersTest, RefusesWhatTheHostCannotHoldAndLeavesNothing) {
  const auto pool = layers_->Pool();
  ASSERT_TRUE(pool);
  const auto layer = layers_->CreateLayer("sb_a", pool->host.free);
  ASSERT_FALSE(layer);
  EXPECT_EQ(layer.error().code(), Code::kResourceExhausted) << Text(layer.error());
  EXPECT_EQ(Groups(), 0U);
  EXPECT_EQ(Layers(), std::vector<std::string>());
}

TEST_F(BtrfsLayersTest, CountsWhatOtherLayersMayStillTake) {
  const auto pool = layers_->Pool();
  ASSERT_TRUE(pool);
  const Bytes most = {pool->host.free.value / 3 * 2};
  const os::Fd first = Create("sb_a", most);
  ASSERT_FALSE(layers_->CreateLayer("sb_b", most));
  ASSERT_TRUE(layers_->DeleteLayer("sb_a"));
  EXPECT_TRUE(layers_->CreateLayer("sb_b", most));
}

TEST_F(BtrfsLayersTest, HoldsAnOverlay) {
  const os::Fd layer = Create("sb_a", MiB(16));
  ASSERT_EQ(mkdirat(layer.get(), "upper", 0755), 0);
  ASSERT_EQ(mkdirat(layer.get(), "work", 0755), 0);
  ASSERT_EQ(mkdir((path_ + "/lower").c_str(), 0755), 0);
  ASSERT_EQ(mkdir((path_ + "/lower/folder").c_str(), 0755), 0);
  const std::string self = "/proc/self/fd/" + std::to_string(layer.get());
  auto overlay = os::FileSystem::Open("overlay");
  ASSERT_TRUE(overlay);
  const auto mount = overlay->Set("lowerdir", path_ + "/lower")
                         .Set("upperdir", self + "/upper")
                         .Set("workdir", self + "/work")
                         .Set("redirect_dir", "on")
                         .Set("metacopy", "off")
                         .Set("index", "off")
                         .Flag("volatile")
                         .Mount(MOUNT_ATTR_NODEV);
  ASSERT_TRUE(mount) << Text(mount.error());
  EXPECT_EQ(renameat(mount->get(), "folder", mount->get(), "moved"), 0) << errno;
  const os::Fd top(openat(mount->get(), ".", kDirectory));
  EXPECT_EQ(Fill(top, "file", MiB(64)), EDQUOT);
  EXPECT_LE(Used("sb_a"), MiB(16));
}

// What Linux before 6.7 has.
class ClassicQuotasTest : public BtrfsLayersTest {
 protected:
  void SetUp() override {
    BtrfsLayersTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    btrfs_ioctl_quota_ctl_args arguments{};
    arguments.cmd = BTRFS_QUOTA_CTL_DISABLE;
    ASSERT_EQ(ioctl(root_.get(), BTRFS_IOC_QUOTA_CTL, &arguments), 0);
    const auto off = Open();
    ASSERT_FALSE(off);
    EXPECT_EQ(off.error().code(), Code::kConflict) << Text(off.error());
    arguments.cmd = BTRFS_QUOTA_CTL_ENABLE;
    ASSERT_EQ(ioctl(root_.get(), BTRFS_IOC_QUOTA_CTL, &arguments), 0);
    const auto state = os::ReadQuotaState(root_);
    ASSERT_TRUE(state);
    ASSERT_EQ(state->mode, os::QuotaMode::kClassic);
  }
};

TEST_F(ClassicQuotasTest, HoldTheLimitWithSnapshotsAndAreCollected) {
  {
    const os::Fd layer = Create("sb_a", MiB(16));
    ASSERT_EQ(Fill(layer, "f", MiB(10)), 0);
    const auto snapshot = layers_->Snapshot("sb_a", "s");
    ASSERT_TRUE(snapshot) << Text(snapshot.error());
    ASSERT_EQ(unlinkat(layer.get(), "f", 0), 0);
    EXPECT_EQ(Fill(layer, "g", MiB(10)), EDQUOT);
    const Status deleted = layers_->DeleteLayer("sb_a");
    ASSERT_TRUE(deleted) << Text(deleted.error());
  }
  CollectAll();
}

class SmallHostTest : public BtrfsLayersTest {
 protected:
  void PrepareHost() override { UseHostOf(MiB(900)); }
};

// The reserve is gone, whoever took it.
TEST_F(SmallHostTest, AHostThatIsFullGivesErrorsByName) {
  const os::Fd layer = Create("sb_a", MiB(64));
  const os::Fd rest(openat(data_.get(), "rest", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  // What the kernel still writes to the store's file takes from it in between.
  const auto take_what_is_free = [&] {
    const auto pool = layers_->Pool();
    return pool && fallocate(rest.get(), 0, 0, static_cast<off_t>(pool->host.free.value)) == 0;
  };
  bool taken = false;
  for (int i = 0; i < 20 && !taken; ++i) taken = take_what_is_free();
  ASSERT_TRUE(taken);
  const auto refused = layers_->CreateLayer("sb_b", MiB(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kResourceExhausted) << Text(refused.error());
  EXPECT_NE(Fill(layer, "f", MiB(32)), 0) << "written to a full host";

  ASSERT_EQ(ftruncate(rest.get(), 0), 0);
  const auto store = Open();
  if (!store) {
    EXPECT_EQ(store.error().code(), Code::kUnavailable) << Text(store.error());
    EXPECT_NE(store.error().cause().find(FilePath()), std::string::npos) << Text(store.error());
  }
}

}  // namespace
}  // namespace caisson::storage
