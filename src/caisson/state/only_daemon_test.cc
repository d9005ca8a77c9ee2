#include "caisson/state/only_daemon.h"

#include <signal.h>
#include <sys/wait.h>

#include "caisson/state/data_folder.h"

namespace caisson::state {
namespace {

// A process that has taken the folder before the constructor returns, and keeps it until it is killed.
class OtherDaemon {
 public:
  explicit OtherDaemon(const os::Fd& folder) {
    int ends[2] = {-1, -1};
    if (pipe(ends) != 0) ADD_FAILURE() << "no pipe";
    pid_ = fork();
    if (pid_ == 0) {
      const auto taken = OnlyDaemon::Take(folder);
      const char answer = taken ? 'y' : 'n';
      if (write(ends[1], &answer, 1) != 1) _exit(1);
      while (true) pause();
    }
    char answer = 0;
    EXPECT_EQ(read(ends[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    close(ends[0]);
    close(ends[1]);
  }
  OtherDaemon(const OtherDaemon&) = delete;
  OtherDaemon& operator=(const OtherDaemon&) = delete;
  ~OtherDaemon() { Kill(); }

  void Kill() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
      pid_ = -1;
    }
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

TEST(OnlyDaemon, TheSecondLearnsWhoIsFirst) {
  const DataFolder folder;
  const OtherDaemon first(folder.fd());
  const auto second = OnlyDaemon::Take(folder.fd());
  ExpectCode(second, Code::kConflict);
  EXPECT_NE(second.error().cause().find("process " + std::to_string(first.pid())), std::string::npos)
      << Words(second.error());
  EXPECT_FALSE(second.error().remediation().empty());
  EXPECT_EQ(folder.Read("daemon.lock"), std::to_string(first.pid()) + "\n") << "the second changed the file";
}

TEST(OnlyDaemon, AKilledOneLeavesNothingInTheWay) {
  const DataFolder folder;
  OtherDaemon first(folder.fd());
  first.Kill();
  EXPECT_TRUE(OnlyDaemon::Take(folder.fd()));
  EXPECT_EQ(folder.Read("daemon.lock"), std::to_string(getpid()) + "\n");
}

TEST(OnlyDaemon, WhatAnUnlockedFileSaysMeansNothing) {
  const DataFolder folder;
  folder.Write("daemon.lock", "1\nand much more than a number");
  EXPECT_TRUE(OnlyDaemon::Take(folder.fd()));
  EXPECT_EQ(folder.Read("daemon.lock"), std::to_string(getpid()) + "\n");
}

TEST(OnlyDaemon, EndsWithTheObject) {
  const DataFolder folder;
  {
    const auto first = OnlyDaemon::Take(folder.fd());
    ASSERT_TRUE(first);
    ExpectCode(OnlyDaemon::Take(folder.fd()), Code::kConflict);
  }
  EXPECT_TRUE(OnlyDaemon::Take(folder.fd()));
}

TEST(OnlyDaemon, FollowsNoLink) {
  const DataFolder folder;
  folder.Write("elsewhere", "precious");
  ASSERT_EQ(symlink("elsewhere", folder.Path("daemon.lock").c_str()), 0);
  EXPECT_FALSE(OnlyDaemon::Take(folder.fd()));
  EXPECT_EQ(folder.Read("elsewhere"), "precious");
}

}  // namespace
}  // namespace caisson::state
