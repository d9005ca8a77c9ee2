#include "caisson/guest/domain_thread.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "caisson/os/fd.h"

namespace caisson::guest {
namespace {

int ErrnoOfReading(const char* path) {
  const os::Fd file(open(path, O_RDONLY | O_CLOEXEC));
  return file.valid() ? 0 : errno;
}

int StatusOf(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

class DomainThreadTest : public testing::Test {
 protected:
  void SetUp() override {
    if (os::LandlockAbi() == 0) GTEST_SKIP() << "this kernel has no Landlock";
    ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    auto rules = os::LandlockRules::Make();
    ASSERT_TRUE(rules);
    ASSERT_TRUE(rules->Allow("/dev", LANDLOCK_ACCESS_FS_READ_FILE));
    auto thread = DomainThread::Start(*rules);
    ASSERT_TRUE(thread) << thread.error().message();
    thread_ = *std::move(thread);
  }
  std::unique_ptr<DomainThread> thread_;
};

TEST_F(DomainThreadTest, WhatItClonesIsUnderTheRules) {
  int allowed = -1;
  int refused = -1;
  pid_t child = -1;
  thread_->Run([&] {
    allowed = ErrnoOfReading("/dev/null");
    refused = ErrnoOfReading("/proc/self/status");
    child = fork();
    if (child == 0) _exit(ErrnoOfReading("/dev/null") != 0 ? 99 : ErrnoOfReading("/proc/self/status"));
  });
  EXPECT_EQ(allowed, 0);
  EXPECT_EQ(refused, EACCES);
  EXPECT_EQ(StatusOf(child), EACCES) << "a child of the whole process, awaited in another thread";
  EXPECT_EQ(ErrnoOfReading("/proc/self/status"), 0) << "the others are as they were";
}

TEST_F(DomainThreadTest, RunsOneThingAfterTheOtherAndEnds) {
  int done = 0;
  for (int i = 0; i < 1000; ++i) thread_->Run([&done] { ++done; });
  EXPECT_EQ(done, 1000);
  pid_t child = -1;
  int gate[2] = {-1, -1};
  ASSERT_EQ(pipe2(gate, O_CLOEXEC), 0);
  thread_->Run([&] {
    child = fork();
    char byte = 0;
    if (child == 0) _exit(read(gate[0], &byte, 1) == 1 ? 7 : 8);
  });
  thread_.reset();
  EXPECT_EQ(write(gate[1], "x", 1), 1);
  EXPECT_EQ(StatusOf(child), 7) << "what it cloned goes on";
  close(gate[0]);
  close(gate[1]);
}

TEST(DomainThread, IsNotStartedWithoutTheRules) {
  auto rules = os::LandlockRules::Make();
  if (!rules) GTEST_SKIP() << "this kernel has no Landlock";
  EXPECT_EQ(StatusOf([&] {
              const pid_t child = fork();
              if (child != 0) return child;
              const os::Fd none(open("/dev/null", O_RDONLY | O_CLOEXEC));
              if (dup2(none.get(), rules->get()) < 0) _exit(2);
              _exit(DomainThread::Start(*rules) ? 3 : 0);
            }()),
            0);
}

}  // namespace
}  // namespace caisson::guest
