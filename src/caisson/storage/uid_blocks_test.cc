#include "caisson/storage/uid_blocks.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "caisson/os/identity.h"
#include "caisson/storage/scratch_folder.h"

namespace caisson::storage {
namespace {

TEST(UidBlocks, NoTwoHaveTheSame) {
  const ScratchFolder runtime;
  EXPECT_FALSE(*UidBlocks::OpenExisting(runtime.fd())) << "looking makes no file";
  UidBlocks one = *UidBlocks::Open(runtime.fd());
  UidBlocks other = *UidBlocks::Open(runtime.fd());
  EXPECT_EQ(*one.Take(), 1U);
  EXPECT_EQ(*other.Take(), 2U);
  EXPECT_EQ(*one.Take(), 3U);
  EXPECT_FALSE(*other.TakeThis(3));
  EXPECT_TRUE(*other.TakeThis(7));
  EXPECT_EQ(one.TakenByOthers(), (std::vector<std::uint32_t>{2, 7}));
  EXPECT_EQ((*UidBlocks::OpenExisting(runtime.fd()))->TakenByOthers(), (std::vector<std::uint32_t>{1, 2, 3, 7}));
  one.Release(3);
  EXPECT_TRUE(*other.TakeThis(3));
}

TEST(UidBlocks, AProcessThatEndsHasNone) {
  const ScratchFolder runtime;
  const pid_t pid = fork();
  if (pid == 0) {
    auto blocks = UidBlocks::Open(runtime.fd());
    _exit(blocks && blocks->Take() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(UidBlocks::Open(runtime.fd())->TakenByOthers().empty());
}

TEST(UidBlocks, TheLastOneIsTheLast) {
  const ScratchFolder runtime;
  UidBlocks blocks = *UidBlocks::Open(runtime.fd());
  UidBlocks other = *UidBlocks::Open(runtime.fd());
  for (std::uint32_t block = 1; block < os::kUidBlocks; ++block) ASSERT_TRUE(*blocks.TakeThis(block));
  EXPECT_EQ(other.Take().error().code(), Code::kResourceExhausted);
  blocks.Release(1234);
  EXPECT_EQ(*other.Take(), 1234U);
}

}  // namespace
}  // namespace caisson::storage
