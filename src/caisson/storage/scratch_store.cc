#include "caisson/storage/scratch_store.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "caisson/os/loop_device.h"

namespace caisson::storage {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

bool EnterOwnMounts() {
  return unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

}  // namespace

void ScratchStoreTest::SetUp() {
  if (geteuid() != 0) GTEST_SKIP() << "loop devices and mounts need root";
  if (access("/dev/loop-control", F_OK) != 0) GTEST_SKIP() << "this place has no loop devices";
  if (access("/usr/sbin/mkfs.btrfs", X_OK) != 0 && access("/sbin/mkfs.btrfs", X_OK) != 0) {
    GTEST_SKIP() << "mkfs.btrfs is not installed";
  }
  static const bool own_mounts = EnterOwnMounts();
  if (!own_mounts) GTEST_SKIP() << "this place allows no mount namespace";
  path_ = testing::TempDir() + "btrfs_store_test.XXXXXX";
  ASSERT_NE(mkdtemp(path_.data()), nullptr);
  data_ = os::Fd(open(path_.c_str(), kDirectory));
  ASSERT_TRUE(data_.valid());
}

void ScratchStoreTest::TearDown() {
  if (path_.empty()) return;
  umount2((path_ + "/store").c_str(), MNT_DETACH);
  data_.Reset();
  umount2(path_.c_str(), MNT_DETACH);
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void ScratchStoreTest::UseHostOf(Bytes size) {
  const std::string options = "size=" + std::to_string(size.value);
  ASSERT_EQ(mount("tmpfs", path_.c_str(), "tmpfs", 0, options.c_str()), 0);
  data_ = os::Fd(open(path_.c_str(), kDirectory));
  ASSERT_TRUE(data_.valid());
}

void ScratchStoreTest::Unmount() {
  const os::Fd file = OpenFile();
  ASSERT_EQ(umount2((path_ + "/store").c_str(), 0), 0);
  // The kernel lets go of the device a moment later.
  for (int i = 0; i < 1000; ++i) {
    const auto device = os::LoopDevice::Find(file);
    ASSERT_TRUE(device);
    if (!*device) return;
    usleep(5000);
  }
  FAIL() << "the store file is still attached";
}

bool ScratchStoreTest::Exists(const char* name) const {
  struct stat info{};
  return fstatat(data_.get(), name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

os::Fd ScratchStoreTest::OpenFile() const { return os::Fd(open(FilePath().c_str(), O_RDWR | O_CLOEXEC)); }

std::string Text(const Error& error) {
  return error.message() + ": " + error.cause() + " [" + error.remediation() + "]";
}

}  // namespace caisson::storage
