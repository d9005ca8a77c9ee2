#include "caisson/os/btrfs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "caisson/os/loop_device.h"
#include "caisson/os/mount.h"

namespace caisson::os {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
constexpr QuotaGroup kGroup = QuotaGroup::Of(1, 77);

// A file system on an unnamed file, mounted nowhere: everything ends with its descriptors.
class BtrfsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "loop devices and mounts need root";
    if (access("/dev/loop-control", F_OK) != 0) GTEST_SKIP() << "this place has no loop devices";
    std::string path = testing::TempDir() + "btrfs_test.XXXXXX";
    file_ = Fd(mkostemp(path.data(), O_CLOEXEC));
    ASSERT_TRUE(file_.valid());
    ASSERT_EQ(ftruncate(file_.get(), 256L << 20U), 0);
    const int made = system(("mkfs.btrfs -q -m single -d single " + path + " >/dev/null 2>&1").c_str());
    unlink(path.c_str());
    if (made != 0) GTEST_SKIP() << "mkfs.btrfs is not installed";
    auto device = LoopDevice::Attach(file_);
    ASSERT_TRUE(device) << device.error().message() << device.error().cause();
    auto fs = FileSystem::Open("btrfs");
    if (!fs) GTEST_SKIP() << "this kernel has no btrfs";
    auto mount = fs->Set("source", device->path()).Mount(MOUNT_ATTR_NODEV);
    ASSERT_TRUE(mount) << mount.error().message() << mount.error().cause();
    mount_ = std::move(*mount);
    root_ = Fd(openat(mount_.get(), ".", kDirectory));
    ASSERT_TRUE(root_.valid());
  }

  void MakeLayer(const char* name, Bytes limit) {
    ASSERT_TRUE(EnableQuotas(root_));
    ASSERT_TRUE(CreateQuotaGroup(root_, kGroup));
    ASSERT_TRUE(LimitQuotaGroup(root_, kGroup, limit));
    ASSERT_TRUE(CreateSubvolume(root_, name, kGroup));
  }
  Fd Folder(const char* name) const { return Fd(openat(root_.get(), name, kDirectory)); }

  Fd file_;
  Fd mount_;
  Fd root_;
};

TEST_F(BtrfsTest, TellsBtrfsFromOthers) {
  EXPECT_TRUE(IsBtrfs(root_));
  EXPECT_FALSE(IsBtrfs(Fd(open("/proc", kDirectory))));
}

TEST_F(BtrfsTest, FindsTheLoopDeviceOfAFile) {
  const auto device = LoopDevice::Find(file_);
  ASSERT_TRUE(device && *device) << "mounted, but not found";
  const auto path = FirstDevice(root_);
  ASSERT_TRUE(path);
  EXPECT_EQ(*path, (*device)->path());
  const auto ours = IsLoopDeviceOf(*path, file_);
  EXPECT_TRUE(ours && *ours);

  const Fd other(open(testing::TempDir().c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
  ASSERT_TRUE(other.valid());
  const auto none = LoopDevice::Find(other);
  EXPECT_TRUE(none && !*none);
  const auto others = IsLoopDeviceOf(*path, other);
  EXPECT_TRUE(others && !*others);
}

TEST_F(BtrfsTest, TheDeviceGoesWithTheMount) {
  root_.Reset();
  mount_.Reset();
  // The kernel ends a file system after the descriptor is closed.
  for (int i = 0; i < 500; ++i) {
    const auto device = LoopDevice::Find(file_);
    ASSERT_TRUE(device);
    if (!*device) return;
    usleep(10000);
  }
  FAIL() << "the loop device is still attached";
}

TEST_F(BtrfsTest, SwitchesQuotasOnOnce) {
  const auto before = ReadQuotaState(root_);
  ASSERT_TRUE(before) << before.error().message();
  EXPECT_EQ(before->mode, QuotaMode::kOff);
  ASSERT_TRUE(EnableQuotas(root_));
  ASSERT_TRUE(EnableQuotas(root_));
  const auto after = ReadQuotaState(root_);
  ASSERT_TRUE(after);
  EXPECT_NE(after->mode, QuotaMode::kOff);
}

TEST_F(BtrfsTest, MakesFindsAndDeletesASubvolume) {
  MakeLayer("layer", MiB(4));
  const auto id = SubvolumeOf(Folder("layer"));
  ASSERT_TRUE(id);
  const auto top = SubvolumeOf(root_);
  ASSERT_TRUE(top);
  EXPECT_NE(*id, *top);
  const auto group = ParentGroup(root_, *id);
  ASSERT_TRUE(group && *group);
  EXPECT_EQ(**group, kGroup);
  const auto members = GroupMembers(root_, kGroup);
  ASSERT_TRUE(members);
  EXPECT_EQ(*members, std::vector<QuotaGroup>{QuotaGroup::Of(*id)});
  const auto usage = ReadQuotaUsage(root_, kGroup, kGroup);
  ASSERT_TRUE(usage);
  ASSERT_EQ(usage->size(), 1U);
  EXPECT_EQ((*usage)[0].limit, MiB(4));

  EXPECT_EQ(CreateSubvolume(root_, "layer", kGroup).error().code(), Code::kAlreadyExists);
  EXPECT_EQ(RemoveQuotaGroup(root_, kGroup).error().errno_value(), EBUSY);
  const auto exists = SubvolumeExists(root_, *id);
  EXPECT_TRUE(exists && *exists);
  ASSERT_TRUE(DeleteSubvolume(root_, "layer"));
  EXPECT_FALSE(Folder("layer").valid());
  const auto missing = SubvolumeExists(root_, SubvolumeId{id->value + 1000});
  EXPECT_TRUE(missing && !*missing);
}

TEST_F(BtrfsTest, DeletesNestedSubvolumesById) {
  MakeLayer("layer", MiB(4));
  const Fd layer = Folder("layer");
  ASSERT_TRUE(CreateSubvolume(layer, "inner", kGroup));
  EXPECT_EQ(DeleteSubvolume(root_, "layer").error().errno_value(), ENOTEMPTY);
  const auto id = SubvolumeOf(layer);
  ASSERT_TRUE(id);
  const auto nested = NestedSubvolumes(root_, *id);
  ASSERT_TRUE(nested);
  ASSERT_EQ(nested->size(), 1U);
  ASSERT_TRUE(DeleteSubvolume(root_, (*nested)[0]));
  EXPECT_TRUE(DeleteSubvolume(root_, "layer"));
}

TEST_F(BtrfsTest, SnapshotsAreReadOnly) {
  MakeLayer("layer", MiB(4));
  ASSERT_TRUE(CreateSnapshot(root_, "snapshot", Folder("layer"), kGroup));
  const Fd snapshot = Folder("snapshot");
  EXPECT_FALSE(Fd(openat(snapshot.get(), "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600)).valid());
  EXPECT_EQ(errno, EROFS);
}

TEST_F(BtrfsTest, GrowsToTheSizeOfItsFile) {
  struct stat before{};
  ASSERT_EQ(fstat(file_.get(), &before), 0);
  ASSERT_EQ(ftruncate(file_.get(), 2 * before.st_size), 0);
  const auto device = LoopDevice::Find(file_);
  ASSERT_TRUE(device && *device);
  ASSERT_TRUE((*device)->AdoptFileSize());
  const Status grown = GrowToDevice(root_);
  EXPECT_TRUE(grown) << grown.error().cause();
  EXPECT_TRUE(SyncFileSystem(root_));
}

TEST_F(BtrfsTest, RefusesNamesThatAreNone) {
  EXPECT_EQ(CreateSubvolume(root_, "", kGroup).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(DeleteSubvolume(root_, std::string(5000, 'a')).error().code(), Code::kInvalidArgument);
  EXPECT_FALSE(DeleteSubvolume(root_, "../x"));
}

}  // namespace
}  // namespace caisson::os
