#include "caisson/os/mount.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "caisson/os/namespace.h"

namespace caisson::os {
namespace {

TEST(FormatIdMap, WritesOneLineARange) {
  EXPECT_EQ(FormatIdMap({}), "");
  EXPECT_EQ(FormatIdMap({{0, 1879048192, 131072}}), "0 1879048192 131072\n");
  EXPECT_EQ(FormatIdMap({{0, 100000, 1000}, {1000, 4294967294, 1}}), "0 100000 1000\n1000 4294967294 1\n");
}

class MountTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "mounting needs root";
  }
  // Attached nowhere: it ends with its descriptor.
  static Result<DetachedMount> MakeTmpfs() {
    CAISSON_TRY(FileSystem tmpfs, FileSystem::Open("tmpfs"));
    return tmpfs.Set("size", "1m").Set("mode", "0755").Mount(MOUNT_ATTR_NOSUID);
  }
  // Of a mount that is attached nowhere.
  static bool IsTooOldForCopies(const Result<DetachedMount>& copy) {
    return !copy && copy.error().errno_value() == EINVAL;
  }
  static constexpr const char* kTooOld = "Linux before 6.15 does not copy a mount that is attached nowhere";
};

TEST_F(MountTest, NamesAFileSystemThatTheKernelLacks) {
  const Result<FileSystem> lacking = FileSystem::Open("no_such_fs");
  ASSERT_FALSE(lacking);
  EXPECT_EQ(lacking.error().errno_value(), ENODEV);
  EXPECT_NE(lacking.error().message().find("no_such_fs"), std::string::npos);
}

TEST_F(MountTest, ReportsTheFirstSettingThatIsRefused) {
  Result<FileSystem> tmpfs = FileSystem::Open("tmpfs");
  ASSERT_TRUE(tmpfs);
  const Result<DetachedMount> mount = tmpfs->Set("size", "1m").Set("no_such_key", "1").Flag("nor_this").Mount(0);
  ASSERT_FALSE(mount);
  EXPECT_EQ(mount.error().errno_value(), EINVAL);
  EXPECT_NE(mount.error().message().find("no_such_key"), std::string::npos) << mount.error().message();
}

TEST_F(MountTest, MakesADetachedFileSystem) {
  const Result<DetachedMount> mount = MakeTmpfs();
  ASSERT_TRUE(mount) << mount.error().message() << mount.error().cause();
  EXPECT_EQ(fcntl(mount->get(), F_GETFD), FD_CLOEXEC);
  const Fd file(openat(mount->get(), "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  EXPECT_TRUE(file.valid());
}

TEST_F(MountTest, AddsFlagsToOneMountOnly) {
  const Result<DetachedMount> mount = MakeTmpfs();
  ASSERT_TRUE(mount);
  const Result<DetachedMount> read_only = CloneTree(mount->get(), "");
  if (IsTooOldForCopies(read_only)) GTEST_SKIP() << kTooOld;
  ASSERT_TRUE(read_only) << read_only.error().cause();
  ASSERT_TRUE(AddMountFlags(*read_only, MOUNT_ATTR_RDONLY));
  EXPECT_FALSE(Fd(openat(read_only->get(), "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600)).valid());
  EXPECT_EQ(errno, EROFS);
  EXPECT_TRUE(Fd(openat(mount->get(), "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600)).valid());
}

TEST_F(MountTest, ShowsOwnersThroughAnIdMap) {
  const Result<Fd> users = MakeUserNamespace({{0, 5'000'000, 65536}}, {{0, 6'000'000, 65536}});
  if (!users && users.error().errno_value() == EPERM) GTEST_SKIP() << "this place allows no user namespaces";
  ASSERT_TRUE(users) << users.error().message() << users.error().cause();
  const Result<DetachedMount> mount = MakeTmpfs();
  ASSERT_TRUE(mount);
  ASSERT_TRUE(Fd(openat(mount->get(), "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600)).valid());
  ASSERT_EQ(fchownat(mount->get(), "file", 7, 8, 0), 0);

  const Result<DetachedMount> mapped = CloneTree(mount->get(), "");
  if (IsTooOldForCopies(mapped)) GTEST_SKIP() << kTooOld;
  ASSERT_TRUE(mapped);
  const Status status = MapIds(*mapped, *users);
  if (!status && status.error().errno_value() == EINVAL) GTEST_SKIP() << "tmpfs has no id maps before Linux 6.3";
  ASSERT_TRUE(status) << status.error().cause();
  struct stat info{};
  ASSERT_EQ(fstatat(mapped->get(), "file", &info, 0), 0);
  EXPECT_EQ(info.st_uid, 5'000'007U);
  EXPECT_EQ(info.st_gid, 6'000'008U);
}

}  // namespace
}  // namespace caisson::os
