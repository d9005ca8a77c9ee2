#include "caisson/storage/btrfs_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "caisson/os/btrfs.h"
#include "caisson/os/loop_device.h"
#include "caisson/os/mount.h"
#include "caisson/storage/scratch_store.h"
#include "caisson/storage/store_file.h"

namespace caisson::storage {
namespace {

TEST(StoreSize, StaysWhenTheLayerFits) {
  EXPECT_EQ(StoreSizeFor(GiB(4), {GiB(1), GiB(1)}, GiB(1), {}), GiB(4));
  EXPECT_EQ(StoreSizeFor(GiB(4), {}, Bytes{1}, {}), GiB(4));
}

TEST(StoreSize, GrowsByWholeStepsWithRoomForMetadata) {
  const Bytes size = StoreSizeFor(GiB(4), {GiB(3), {}}, GiB(5), {});
  EXPECT_GT(size, GiB(8));
  EXPECT_LE(size, GiB(10));
  EXPECT_EQ(size.value % GiB(1).value, 0U);
}

TEST(HostReserve, KeepsTheLargerOfShareAndFloor) {
  const StorePolicy policy;
  // 1 GiB of 10 GiB.
  EXPECT_TRUE(CheckHostReserve({GiB(10), GiB(4)}, {GiB(2), GiB(1)}, GiB(2), policy));
  EXPECT_FALSE(CheckHostReserve({GiB(10), GiB(4)}, {GiB(2), GiB(1)}, {GiB(2).value + 1}, policy));
  // 5 % of 1000 GiB.
  EXPECT_FALSE(CheckHostReserve({GiB(1000), GiB(50)}, {}, GiB(1), policy));
  EXPECT_TRUE(CheckHostReserve({GiB(1000), GiB(51)}, {}, GiB(1), policy));
}

TEST(HostReserve, NamesTheNumbers) {
  const Status refused = CheckHostReserve({GiB(10), Bytes{12345}}, {{}, Bytes{678}}, MiB(16), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kResourceExhausted);
  const std::string text = Text(refused.error());
  for (const char* number : {"12345", "678", "16MiB", "1073741824"}) {
    EXPECT_NE(text.find(number), std::string::npos) << number << " is missing in: " << text;
  }
  EXPECT_FALSE(CheckHostReserve({GiB(10), GiB(10)}, {}, {~std::uint64_t{0}}, {})) << "the sum overflows";
}

class BtrfsStoreTest : public ScratchStoreTest {
 protected:
  void ExpectBroken(const char* why) const {
    struct stat before{};
    struct stat after{};
    ASSERT_EQ(stat(FilePath().c_str(), &before), 0);
    const auto store = Open();
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code(), Code::kUnavailable) << Text(store.error());
    const std::string text = Text(store.error());
    EXPECT_NE(text.find(FilePath()), std::string::npos) << text;
    EXPECT_NE(text.find(why), std::string::npos) << text;
    EXPECT_FALSE(store.error().remediation().empty());
    ASSERT_EQ(stat(FilePath().c_str(), &after), 0);
    EXPECT_EQ(before.st_ino, after.st_ino) << "somebody made a new one";
  }
  void ExpectRefused(Code code) const {
    const auto store = Open();
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code(), code) << Text(store.error());
    EXPECT_FALSE(store.error().remediation().empty()) << Text(store.error());
  }
};

TEST_F(BtrfsStoreTest, IsMadeOnlyWhenAsked) {
  const auto missing = Open(IfMissing::kFail);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), Code::kNotFound);
  EXPECT_FALSE(Exists("store.img"));

  const auto made = Open();
  ASSERT_TRUE(made) << Text(made.error());
  struct stat info{};
  ASSERT_EQ(stat(FilePath().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0600U);
  EXPECT_LT(info.st_blocks * 512, info.st_size / 4) << "not sparse";
  EXPECT_FALSE(Exists("store.img.unfinished"));
  const auto quotas = os::ReadQuotaState(made->layers());
  ASSERT_TRUE(quotas);
  EXPECT_NE(quotas->mode, os::QuotaMode::kOff);
  EXPECT_TRUE(Open(IfMissing::kFail));
}

TEST_F(BtrfsStoreTest, IsMountedAgainAfterItWasUnmounted) {
  {
    const auto store = Open();
    ASSERT_TRUE(store) << Text(store.error());
    ASSERT_EQ(mkdirat(store->layers().get(), "mark", 0700), 0);
  }
  Unmount();
  const auto again = Open(IfMissing::kFail);
  ASSERT_TRUE(again) << Text(again.error());
  struct stat info{};
  EXPECT_EQ(fstatat(again->layers().get(), "mark", &info, 0), 0);
  struct stat point{};
  ASSERT_EQ(stat((path_ + "/store").c_str(), &point), 0);
  EXPECT_EQ(point.st_ino, 256U);
}

TEST_F(BtrfsStoreTest, UsesTheDeviceThatExists) {
  ASSERT_TRUE(Open());
  Unmount();
  const os::Fd file = OpenFile();
  const auto device = os::LoopDevice::Attach(file);
  ASSERT_TRUE(device);
  const auto store = Open();
  ASSERT_TRUE(store) << Text(store.error());
  const auto used = os::FirstDevice(store->layers());
  ASSERT_TRUE(used);
  EXPECT_EQ(*used, device->path());
}

TEST_F(BtrfsStoreTest, IsMadeOnceByManyAtTheSameTime) {
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      const auto store = Open();
      if (!store) fprintf(stderr, "%s\n", Text(store.error()).c_str());
      _exit(store ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = -1;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  // One mount and one device: after one unmount, nothing holds the file.
  Unmount();
}

TEST_F(BtrfsStoreTest, AKilledMakerLeavesNothingThatCounts) {
  for (const useconds_t delay : {0U, 500U, 1000U, 2000U, 4000U, 8000U, 16000U, 32000U}) {
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) _exit(Open() ? 0 : 1);
    usleep(delay);
    ASSERT_EQ(kill(pid, SIGKILL), 0);
    ASSERT_EQ(waitpid(pid, nullptr, 0), pid);
    const auto store = Open();
    ASSERT_TRUE(store) << "killed after " << delay << " us: " << Text(store.error());
    EXPECT_FALSE(Exists("store.img.unfinished"));
    umount2((path_ + "/store").c_str(), MNT_DETACH);
    ASSERT_EQ(unlink(FilePath().c_str()), 0);
  }
}

TEST_F(BtrfsStoreTest, NamesATruncatedFile) {
  ASSERT_TRUE(Open());
  Unmount();
  ASSERT_EQ(truncate(FilePath().c_str(), 100L << 20U), 0);
  ExpectBroken("truncated");
  ASSERT_EQ(truncate(FilePath().c_str(), 1000), 0);
  ExpectBroken("no btrfs");
  ASSERT_EQ(truncate(FilePath().c_str(), 0), 0);
  ExpectBroken("no btrfs");
}

TEST_F(BtrfsStoreTest, NamesACorruptedFile) {
  ASSERT_TRUE(Open());
  Unmount();
  const os::Fd file = OpenFile();
  std::string noise(4096, '\xA5');
  // All of the super block but magic and size.
  ASSERT_EQ(pwrite(file.get(), noise.data(), 32, 64 << 10), 32);
  ExpectBroken("cannot make a btrfs mount");
  ASSERT_EQ(pwrite(file.get(), noise.data(), noise.size(), 64 << 10), 4096);
  ExpectBroken("no btrfs");
  const auto device = os::LoopDevice::Find(file);
  EXPECT_TRUE(device && !*device) << "the device stayed";
}

TEST_F(BtrfsStoreTest, NamesAReadOnlyStore) {
  ASSERT_TRUE(Open());
  ASSERT_EQ(mount(nullptr, (path_ + "/store").c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  ExpectBroken("read-only");
}

TEST_F(BtrfsStoreTest, RefusesAFileThatOthersCouldHaveChanged) {
  ASSERT_TRUE(Open());
  Unmount();
  ASSERT_EQ(chmod(FilePath().c_str(), 0644), 0);
  ExpectRefused(Code::kPermissionDenied);
  ASSERT_EQ(chmod(FilePath().c_str(), 0600), 0);
  ASSERT_EQ(chown(FilePath().c_str(), 1000, 0), 0);
  ExpectRefused(Code::kPermissionDenied);
  ASSERT_EQ(chown(FilePath().c_str(), 0, 0), 0);
  ASSERT_EQ(link(FilePath().c_str(), (path_ + "/other").c_str()), 0);
  ExpectRefused(Code::kPermissionDenied);
  ASSERT_EQ(unlink(FilePath().c_str()), 0);
  ASSERT_EQ(symlink("other", FilePath().c_str()), 0);
  ExpectRefused(Code::kPermissionDenied);
  ASSERT_EQ(unlink(FilePath().c_str()), 0);
  ASSERT_EQ(mkfifo(FilePath().c_str(), 0600), 0);
  ExpectRefused(Code::kPermissionDenied);
}

TEST_F(BtrfsStoreTest, RefusesWhatElseIsMountedInItsPlace) {
  ASSERT_TRUE(Open());
  Unmount();
  ASSERT_EQ(mount("tmpfs", (path_ + "/store").c_str(), "tmpfs", 0, nullptr), 0);
  ExpectRefused(Code::kConflict);
}

TEST_F(BtrfsStoreTest, RefusesAFileThatIsAttachedInPart) {
  ASSERT_TRUE(Open());
  Unmount();
  const os::Fd read_only(open(FilePath().c_str(), O_RDONLY | O_CLOEXEC));
  const auto device = os::LoopDevice::Attach(read_only);
  ASSERT_TRUE(device);
  ExpectRefused(Code::kConflict);
}

// Puts /dev/null in place of a file, for this program's mount namespace only.
class Hidden {
 public:
  explicit Hidden(const char* path) : path_(path), hidden_(mount("/dev/null", path, nullptr, MS_BIND, nullptr) == 0) {}
  Hidden(const Hidden&) = delete;
  Hidden& operator=(const Hidden&) = delete;
  ~Hidden() {
    if (hidden_) umount2(path_, MNT_DETACH);
  }
  bool hidden() const { return hidden_; }

 private:
  const char* path_;
  bool hidden_;
};

TEST_F(BtrfsStoreTest, NamesThatNoLoopDeviceIsToBeHad) {
  {
    const Hidden control("/dev/loop-control");
    ASSERT_TRUE(control.hidden());
    ExpectRefused(Code::kResourceExhausted);
  }
  const auto store = Open();
  EXPECT_TRUE(store) << Text(store.error());
}

TEST_F(BtrfsStoreTest, NamesThePackageThatIsMissing) {
  const Hidden maker("/usr/sbin/mkfs.btrfs");
  if (!maker.hidden()) GTEST_SKIP() << "mkfs.btrfs lies elsewhere";
  const auto store = Open();
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), Code::kUnsupported) << Text(store.error());
  EXPECT_NE(store.error().remediation().find("apt install btrfs-progs"), std::string::npos) << Text(store.error());
  EXPECT_FALSE(Exists("store.img"));
}

TEST_F(BtrfsStoreTest, AFullHostGetsNoStore) {
  UseHostOf(MiB(64));
  ExpectRefused(Code::kResourceExhausted);
  EXPECT_FALSE(Exists("store.img"));
  EXPECT_FALSE(Exists("store.img.unfinished"));
}

TEST_F(BtrfsStoreTest, AHostThatFillsUpWhileTheFileIsMadeKeepsNothingOfIt) {
  UseHostOf(KiB(64));
  const os::Fd lock(openat(data_.get(), ".", O_RDONLY | O_CLOEXEC));
  const Status made = MakeStoreFile(data_, path_, lock, MiB(256));
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message().find(FilePath()), std::string::npos) << Text(made.error());
  EXPECT_FALSE(made.error().cause().empty());
  EXPECT_FALSE(Exists("store.img"));
  EXPECT_FALSE(Exists("store.img.unfinished"));
}

TEST_F(BtrfsStoreTest, MakesRoomByGrowing) {
  const auto store = Open();
  ASSERT_TRUE(store) << Text(store.error());
  const auto before = store->PoolSpace();
  ASSERT_TRUE(before);
  EXPECT_EQ(before->size, MiB(256));
  const Status room = store->MakeRoom({}, MiB(512));
  ASSERT_TRUE(room) << Text(room.error());
  const auto after = store->PoolSpace();
  ASSERT_TRUE(after);
  EXPECT_GE(after->size, MiB(512));
  struct stat info{};
  ASSERT_EQ(stat(FilePath().c_str(), &info), 0);
  EXPECT_EQ(static_cast<std::uint64_t>(info.st_size), after->size.value);
  EXPECT_LT(info.st_blocks * 512, 256L << 20U);

  ASSERT_TRUE(store->MakeRoom({}, MiB(256)));
  const auto same = store->PoolSpace();
  ASSERT_TRUE(same);
  EXPECT_EQ(same->size, after->size);
}

// The data folder's own file system is btrfs: a store stands in for one.
class OwnBtrfsTest : public ScratchStoreTest {
 protected:
  void SetUp() override {
    ScratchStoreTest::SetUp();
    if (IsSkipped()) return;
    const auto outer = Open();
    ASSERT_TRUE(outer) << Text(outer.error());
    inner_path_ = path_ + "/store";
    inner_ = os::Fd(open(inner_path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  Result<BtrfsStore> OpenInner() const { return BtrfsStore::Open(inner_, inner_path_, IfMissing::kCreate, kPolicy); }

  std::string inner_path_;
  os::Fd inner_;
};

TEST_F(OwnBtrfsTest, IsUsedAsItIsWhenItsQuotasAreOn) {
  const auto store = OpenInner();
  ASSERT_TRUE(store) << Text(store.error());
  EXPECT_NE(access((inner_path_ + "/store.img").c_str(), F_OK), 0);
  struct stat folder{};
  struct stat layers{};
  ASSERT_EQ(fstat(inner_.get(), &folder), 0);
  ASSERT_EQ(fstat(store->layers().get(), &layers), 0);
  EXPECT_EQ(folder.st_dev, layers.st_dev);
}

}  // namespace
}  // namespace caisson::storage
