#include "caisson/os/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <string>

namespace caisson::os {
namespace {

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

Fd MakeFile(std::string_view content) {
  Fd file(memfd_create("fd_test", MFD_CLOEXEC));
  EXPECT_TRUE(WriteAll(file.get(), content));
  EXPECT_EQ(lseek(file.get(), 0, SEEK_SET), 0);
  return file;
}

TEST(Fd, IsInvalidWithoutADescriptor) {
  const Fd none;
  EXPECT_FALSE(none.valid());
  EXPECT_EQ(none.get(), -1);
}

TEST(Fd, ClosesWhenItIsDestroyed) {
  int number = -1;
  {
    const Fd file = MakeFile("");
    number = file.get();
    EXPECT_TRUE(IsOpen(number));
  }
  EXPECT_FALSE(IsOpen(number));
}

TEST(Fd, MovingLeavesTheSourceEmptyAndTheFileOpen) {
  Fd from = MakeFile("");
  const int number = from.get();
  const Fd to(std::move(from));
  EXPECT_FALSE(from.valid());  // NOLINT(bugprone-use-after-move): the state after a move is the contract
  EXPECT_EQ(to.get(), number);
  EXPECT_TRUE(IsOpen(number));
}

TEST(Fd, MoveAssignmentClosesWhatItHeld) {
  Fd held = MakeFile("");
  const int old_number = held.get();
  Fd other = MakeFile("");
  const int new_number = other.get();
  held = std::move(other);
  EXPECT_FALSE(IsOpen(old_number));
  EXPECT_TRUE(IsOpen(new_number));
  EXPECT_EQ(held.get(), new_number);
}

TEST(Fd, SelfMoveKeepsTheFileOpen) {
  Fd file = MakeFile("");
  const int number = file.get();
  Fd& same = file;
  file = std::move(same);
  EXPECT_EQ(file.get(), number);
  EXPECT_TRUE(IsOpen(number));
}

TEST(Fd, ClosesOnceOnly) {
  Fd file = MakeFile("");
  const int number = file.get();
  file.Reset();
  // Somebody else gets the number: a second close would hit them.
  const Fd other(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, number));
  ASSERT_EQ(other.get(), number);
  file.Reset();
  file = Fd();
  EXPECT_TRUE(IsOpen(number));
}

TEST(Fd, ReleaseGivesTheDescriptorAway) {
  Fd file = MakeFile("");
  const int number = file.Release();
  EXPECT_FALSE(file.valid());
  EXPECT_TRUE(IsOpen(number));
  Fd owner;
  owner.Reset(number);
  owner.Reset();
  EXPECT_FALSE(IsOpen(number));
}

TEST(Fd, DuplicateIsAnotherCloseOnExecDescriptorOfTheSameFile) {
  Fd file = MakeFile("content");
  Result<Fd> copy = file.Duplicate();
  ASSERT_TRUE(copy);
  EXPECT_NE(copy->get(), file.get());
  EXPECT_EQ(fcntl(copy->get(), F_GETFD), FD_CLOEXEC);
  file.Reset();
  EXPECT_EQ(ReadAll(copy->get(), 100).value_or(""), "content");
}

TEST(Fd, DuplicateOfNothingIsAnError) {
  const Result<Fd> copy = Fd().Duplicate();
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.error().errno_value(), EBADF);
}

TEST(ReadAll, ReadsUpToTheLimitAndNoMore) {
  EXPECT_EQ(ReadAll(MakeFile("").get(), 0).value_or("failed"), "");
  EXPECT_EQ(ReadAll(MakeFile("12345").get(), 5).value_or("failed"), "12345");
  const Result<std::string> over = ReadAll(MakeFile("123456").get(), 5);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code(), Code::kResourceExhausted);
}

TEST(ReadAll, ReadsMoreThanOneBufferFromTheCurrentOffset) {
  std::string content(200'000, 'a');
  content.back() = 'z';
  const Fd file = MakeFile(content);
  lseek(file.get(), 10, SEEK_SET);
  EXPECT_EQ(ReadAll(file.get(), content.size()).value_or(""), content.substr(10));
}

TEST(ReadAll, StopsAtTheLimitOfAStreamThatNeverEnds) {
  const Fd zeros(open("/dev/zero", O_RDONLY | O_CLOEXEC));
  const Result<std::string> read = ReadAll(zeros.get(), 100'000);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), Code::kResourceExhausted);
}

TEST(ReadAll, ReportsTheErrno) {
  const Fd folder(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const Result<std::string> read = ReadAll(folder.get(), 10);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().errno_value(), EISDIR);
}

TEST(WriteAll, ReportsTheErrno) {
  const Fd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  const Status written = WriteAll(full.get(), "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().errno_value(), ENOSPC);
  EXPECT_EQ(written.error().code(), Code::kResourceExhausted);
}

}  // namespace
}  // namespace caisson::os
