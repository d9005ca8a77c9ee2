#include "caisson/guard/program_source.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

#include "caisson/os/fd.h"

namespace caisson::guard {
namespace {

class HostProgramsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "another root needs CAP_SYS_CHROOT and CAP_SYS_ADMIN";
    ASSERT_NE(mkdtemp(root_.data()), nullptr);
    for (const char* folder : {"/proc", "/usr/bin", "/usr/share", "/var/lib/dpkg", "/home"}) {
      std::filesystem::create_directories(root_ + folder);
    }
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  // In a child with the made root; its status is the step that was wrong.
  int InRoot(const std::function<int()>& steps) const {
    const pid_t child = fork();
    if (child == 0) {
      const bool is_inside = unshare(CLONE_NEWNS) == 0 &&
                             mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                             mount("/proc", (root_ + "/proc").c_str(), nullptr, MS_BIND, nullptr) == 0 &&
                             chroot(root_.c_str()) == 0 && chdir("/") == 0;
      _exit(is_inside ? steps() : 255);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  static void Script(const char* path) {
    const os::Fd file(open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755));
    EXPECT_TRUE(os::WriteAll(file.get(), "#!/usr/bin/first\n"));
  }
  static void SetTime(const char* path, std::int64_t seconds) {
    const timespec times[2] = {{.tv_sec = seconds, .tv_nsec = 0}, {.tv_sec = seconds, .tv_nsec = 0}};
    EXPECT_EQ(utimensat(AT_FDCWD, path, times, 0), 0);
  }

  std::string root_ = testing::TempDir() + "caisson_programs.XXXXXX";
};

TEST_F(HostProgramsTest, LooksOnceUntilSomethingIsInstalled) {
  EXPECT_EQ(InRoot([] {
              Script("/usr/bin/first");
              HostPrograms programs;
              const auto first = programs.Find();
              if (!first || (*first)->by_name.count("first") != 1) return 1;
              Script("/home/other");
              if (*programs.Find() != *first) return 2;
              Script("/usr/bin/second");
              SetTime("/usr/bin", 1000);
              const auto second = programs.Find();
              if (!second || *second == *first || (*second)->by_name.count("second") != 1) return 3;
              return (*first)->by_name.count("second") == 0 ? 0 : 4;
            }),
            0);
}

TEST_F(HostProgramsTest, LooksAgainWhenThePackageDatabaseChanges) {
  EXPECT_EQ(InRoot([] {
              HostPrograms programs;
              const auto first = programs.Find();
              if (!first) return 1;
              Script("/var/lib/dpkg/status");
              const auto second = programs.Find();
              if (!second || *second == *first) return 2;
              SetTime("/var/lib/dpkg/status", 1000);
              const auto third = programs.Find();
              if (!third || *third == *second) return 3;
              unlink("/var/lib/dpkg/status");
              const auto fourth = programs.Find();
              return fourth && *fourth != *third && *programs.Find() == *fourth ? 0 : 4;
            }),
            0);
}

}  // namespace
}  // namespace caisson::guard
