#include "caisson/storage/tree_usage.h"

#include <gtest/gtest.h>

#include "caisson/storage/scratch_folder.h"

namespace caisson::storage {
namespace {

std::uint64_t BlocksOf(const ScratchFolder& folder, const std::string& name) {
  struct stat info{};
  EXPECT_EQ(fstatat(folder.fd().get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW), 0) << name;
  return static_cast<std::uint64_t>(info.st_blocks) * 512;
}

TEST(AllocatedBy, CountsFilesFoldersAndEachLinkedFileOnce) {
  const ScratchFolder folder;
  folder.Make("tree");
  folder.Make("tree/a");
  folder.Make("tree/a/b");
  folder.Write("tree/a/b/file", 100'000);
  folder.Write("tree/small", 1);
  std::uint64_t expected = 0;
  for (const char* name : {"tree", "tree/a", "tree/a/b", "tree/a/b/file", "tree/small"}) {
    expected += BlocksOf(folder, name);
  }
  EXPECT_GT(expected, 100'000U);
  EXPECT_EQ(AllocatedBy(folder.fd(), "tree").value, expected);
  ASSERT_EQ(linkat(folder.fd().get(), "tree/a/b/file", folder.fd().get(), "tree/second", 0), 0);
  EXPECT_EQ(AllocatedBy(folder.fd(), "tree").value, expected);
  EXPECT_EQ(AllocatedBy(folder.fd(), "tree/small").value, BlocksOf(folder, "tree/small"));
}

TEST(AllocatedBy, HolesCountNothingAndLinksLeadNowhere) {
  const ScratchFolder folder;
  folder.Make("tree");
  folder.Write("outside", 1'000'000);
  folder.Write("tree/sparse", 1);
  const std::uint64_t before = AllocatedBy(folder.fd(), "tree").value;
  ASSERT_EQ(truncate((folder.path() + "/tree/sparse").c_str(), off_t{1} << 40), 0);
  EXPECT_LT(AllocatedBy(folder.fd(), "tree").value, before + 100'000);
  ASSERT_EQ(symlinkat("../outside", folder.fd().get(), "tree/link"), 0);
  ASSERT_EQ(symlinkat("/", folder.fd().get(), "tree/root"), 0);
  EXPECT_LT(AllocatedBy(folder.fd(), "tree").value, before + 100'000);
  EXPECT_EQ(AllocatedBy(folder.fd(), "missing").value, 0U);
}

TEST(AllocatedBy, AnyDepthWorks) {
  const ScratchFolder folder;
  folder.Make("tree");
  os::Fd deep = folder.Open("tree");
  constexpr int kDepth = 5000;
  for (int i = 0; i < kDepth; ++i) {
    ASSERT_EQ(mkdirat(deep.get(), "d", 0755), 0);
    deep.Reset(openat(deep.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(deep.valid());
  }
  const os::Fd file(openat(deep.get(), "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  ASSERT_TRUE(os::WriteAll(file.get(), std::string(300'000, 'x')));
  fsync(file.get());
  // Also beside the deep branch, which is come back from.
  folder.Make("tree/z");
  folder.Write("tree/z/file", 300'000);
  EXPECT_GE(AllocatedBy(folder.fd(), "tree").value, 600'000U);
}

}  // namespace
}  // namespace caisson::storage
