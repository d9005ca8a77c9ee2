#include "caisson/guest/kernel_plans.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "caisson/guest/lockdown.h"
#include "caisson/plan/kernel_plan.h"

namespace caisson::guest {
namespace {

constexpr std::uint32_t kUser = 1000;

// In a child, whose step that was wrong is its status: AsUser ends the process that may not change ids.
int InChild(const std::function<int()>& steps) {
  const pid_t child = fork();
  if (child == 0) _exit(steps());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

int ErrnoOfOpening(const std::string& path, int flags) {
  const os::Fd file(open(path.c_str(), flags | O_CLOEXEC, 0644));
  return file.valid() ? 0 : errno;
}

class KernelPlansTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "changing ids needs root";
    if (os::LandlockAbi() == 0) GTEST_SKIP() << "this kernel has no Landlock";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
    Own(folder_);
    for (const char* name : {"/open", "/other"}) {
      std::filesystem::create_directory(folder_ + name);
      Own(folder_ + name);
    }
    for (const char* name : {"/open/file", "/other/file"}) Write(folder_ + name);
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  // Everything belongs to the user whose ids the process has after AsUser, so that nothing but the plan refuses.
  static void Own(const std::string& path) { EXPECT_EQ(chown(path.c_str(), kGuestId, kGuestId), 0) << path; }
  static void Write(const std::string& path) {
    EXPECT_EQ(ErrnoOfOpening(path, O_WRONLY | O_CREAT), 0) << path;
    Own(path);
  }
  std::string At(const std::string& name) const { return folder_ + "/" + name; }

  static void Grant(proto::MakePlan& plan, const std::string& path, plan::FileRights rights, bool is_below = true) {
    proto::FileGrant& grant = *plan.add_grants();
    grant.set_path(path);
    grant.set_rights(rights);
    grant.set_is_below(is_below);
  }
  // Makes a plan and binds the process to it.
  static bool Bind(proto::MakePlan request, std::uint32_t id = kGuestId) {
    request.set_id(id);
    KernelPlans plans;
    const auto number = plans.Make(request);
    if (!number) return false;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
    return syscall(SYS_landlock_restrict_self, plans.Bind(*number)->rules->get(), 0) == 0;
  }

  std::string folder_ = testing::TempDir() + "caisson_plans.XXXXXX";
};

TEST_F(KernelPlansTest, GrantsWhatItNamesAndNothingElse) {
  proto::MakePlan plan;
  Grant(plan, At("open"), plan::kReadFile | plan::kReadFolder);
  EXPECT_EQ(InChild([&] {
              if (!Bind(plan)) return 1;
              if (ErrnoOfOpening(At("open/file"), O_RDONLY) != 0) return 2;
              if (ErrnoOfOpening(At("open"), O_RDONLY | O_DIRECTORY) != 0) return 3;
              if (ErrnoOfOpening(At("other/file"), O_RDONLY) != EACCES) return 4;
              if (ErrnoOfOpening(At("open/file"), O_WRONLY) != EACCES) return 5;
              if (ErrnoOfOpening(At("open/new"), O_WRONLY | O_CREAT) != EACCES) return 6;
              if (unlink(At("open/file").c_str()) == 0) return 7;
              return ErrnoOfOpening(At("other"), O_RDONLY | O_DIRECTORY) == EACCES ? 0 : 8;
            }),
            0);
}

TEST_F(KernelPlansTest, ARightGivesNoOther) {
  struct Case {
    plan::FileRights rights;
    std::function<bool(const std::string&)> act;  // whether it is let
  };
  const std::vector<Case> cases = {
      {plan::kExecuteFile | plan::kReadFile,  // the kernel opens a program to read it
       [](const std::string& folder) {
         const pid_t child = fork();
         if (child == 0) {
           execl((folder + "/true").c_str(), "true", nullptr);
           _exit(errno == EACCES ? 1 : 2);
         }
         int status = 0;
         waitpid(child, &status, 0);
         return WEXITSTATUS(status) == 2;  // it is no program
       }},
      {plan::kReadFile, [](const std::string& folder) { return ErrnoOfOpening(folder + "/file", O_RDONLY) == 0; }},
      {plan::kReadFolder,
       [](const std::string& folder) { return ErrnoOfOpening(folder, O_RDONLY | O_DIRECTORY) == 0; }},
      {plan::kWriteFile, [](const std::string& folder) { return ErrnoOfOpening(folder + "/file", O_WRONLY) == 0; }},
      {plan::kCreateFile, [](const std::string& folder) { return mkdir((folder + "/new").c_str(), 0755) == 0; }},
      {plan::kRemoveFile, [](const std::string& folder) { return unlink((folder + "/gone").c_str()) == 0; }},
  };
  for (const Case& granted : cases) {
    for (const Case& tried : cases) {
      Write(At("open/gone"));
      Write(At("open/true"));
      ASSERT_EQ(chmod(At("open/true").c_str(), 0755), 0);
      std::filesystem::remove(At("open/new"));
      proto::MakePlan plan;
      Grant(plan, At("open"), granted.rights);
      const int status = InChild([&] { return !Bind(plan) ? 2 : static_cast<int>(tried.act(At("open"))); });
      const bool is_granted = (tried.rights & ~granted.rights) == 0;
      EXPECT_EQ(status, static_cast<int>(is_granted)) << granted.rights << " " << tried.rights;
    }
  }
}

TEST_F(KernelPlansTest, WritingIsTruncating) {
  if (os::LandlockAbi() < 3) GTEST_SKIP() << "truncation is controlled from Landlock version 3, Linux 6.2";
  proto::MakePlan plan;
  Grant(plan, At("open"), plan::kReadFile | plan::kWriteFile);
  Grant(plan, At("other"), plan::kReadFile);
  EXPECT_EQ(InChild([&] {
              if (!Bind(plan)) return 1;
              if (truncate(At("open/file").c_str(), 0) != 0) return 2;
              return truncate(At("other/file").c_str(), 0) != 0 && errno == EACCES ? 0 : 3;
            }),
            0);
}

TEST_F(KernelPlansTest, MovesFromWhereItMayRemoveToWhereItMayCreate) {
  if (os::LandlockAbi() < 2) GTEST_SKIP() << "moving between folders is controlled from Landlock version 2, Linux 5.19";
  proto::MakePlan plan;
  constexpr plan::FileRights kAll = plan::kReadFile | plan::kWriteFile | plan::kCreateFile | plan::kRemoveFile;
  Grant(plan, At("open"), kAll);
  Grant(plan, At("other"), kAll);
  EXPECT_EQ(InChild([&] {
              if (!Bind(plan)) return 1;
              return rename(At("open/file").c_str(), At("other/moved").c_str()) == 0 ? 0 : 2;
            }),
            0);
}

// Otherwise "the file alone" would open all below a folder that a command puts in its place.
TEST_F(KernelPlansTest, AFileAloneIsNoFolder) {
  proto::MakePlan plan;
  Grant(plan, At("open"), plan::kReadFile, false);
  Grant(plan, At("other/file"), plan::kReadFile, false);
  EXPECT_EQ(InChild([&] {
              if (!Bind(plan)) return 1;
              if (ErrnoOfOpening(At("other/file"), O_RDONLY) != 0) return 2;
              return ErrnoOfOpening(At("open/file"), O_RDONLY) == EACCES ? 0 : 3;
            }),
            0);
}

TEST_F(KernelPlansTest, RightsOfFoldersDoNotKeepAFileFromItsOwn) {
  proto::MakePlan plan;
  Grant(plan, At("open/file"), plan::kAllFileRights, false);
  EXPECT_EQ(InChild([&] { return Bind(plan) && ErrnoOfOpening(At("open/file"), O_RDWR) == 0 ? 0 : 1; }), 0);
}

TEST_F(KernelPlansTest, WhatIsMissingOrLeadsElsewhereGrantsNothing) {
  ASSERT_EQ(symlink("other", At("link").c_str()), 0);
  proto::MakePlan plan;
  Grant(plan, At("nothing"), plan::kReadFile);
  Grant(plan, At("link"), plan::kReadFile);
  Grant(plan, At("link/file"), plan::kReadFile, false);
  Grant(plan, "/proc/self/root", plan::kReadFile);
  Grant(plan, "/proc/self/cwd", plan::kReadFile);
  Grant(plan, "", plan::kReadFile);
  Grant(plan, At("open"), 0);
  Grant(plan, At("open"), ~plan::kAllFileRights);
  EXPECT_EQ(InChild([&] {
              if (chdir(folder_.c_str()) != 0 || !Bind(plan)) return 1;
              for (const char* name : {"open/file", "other/file"}) {
                if (ErrnoOfOpening(At(name), O_RDONLY) != EACCES) return 2;
              }
              return 0;
            }),
            0);
}

TEST_F(KernelPlansTest, OpensPathsWithTheRightsOfTheUser) {
  ASSERT_EQ(chmod(At("open").c_str(), 0700), 0);
  proto::MakePlan plan;
  Grant(plan, At("open/file"), plan::kReadFile, false);
  const auto errno_under = [&](std::uint32_t id) {
    return InChild([&] { return Bind(plan, id) ? ErrnoOfOpening(At("open/file"), O_RDONLY) : 255; });
  };
  EXPECT_EQ(errno_under(kGuestId), 0);
  EXPECT_EQ(errno_under(kUser), EACCES) << "the user could not look into the folder";
}

TEST_F(KernelPlansTest, OfNoGrantsNothingIsLeft) {
  EXPECT_EQ(InChild([&] { return Bind(proto::MakePlan()) && ErrnoOfOpening("/", O_RDONLY) == EACCES ? 0 : 1; }), 0);
}

TEST_F(KernelPlansTest, FromTheSecondOnAThreadHasEnteredTheRules) {
  EXPECT_EQ(InChild([&] {
              KernelPlans plans;
              proto::MakePlan request;
              request.set_id(kGuestId);
              Grant(request, At("open"), plan::kReadFile);
              Grant(request, "/proc", plan::kWriteFile);
              if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !plans.Make(request)) return 1;
              const auto first = plans.Bind(1);
              if (!first || first->thread != nullptr || first->rules == nullptr) return 2;
              const auto second = plans.Bind(1);
              if (!second || second->thread == nullptr || plans.Bind(1)->thread != second->thread) return 3;
              int refused = 0;
              int allowed = -1;
              second->thread->Run([&] {
                refused = ErrnoOfOpening(At("other/file"), O_RDONLY);
                allowed = ErrnoOfOpening(At("open/file"), O_RDONLY);
              });
              return refused == EACCES && allowed == 0 && ErrnoOfOpening(At("other/file"), O_RDONLY) == 0 ? 0 : 4;
            }),
            0);
}

// What the thread clones could not set its own score for the killer of a memory shortage.
TEST_F(KernelPlansTest, APlanWithoutProcHasNoThread) {
  proto::MakePlan itself;
  Grant(itself, "/proc", plan::kWriteFile, false);
  proto::MakePlan reading;
  Grant(reading, "/proc", plan::kAllFileRights & ~plan::kWriteFile);
  Grant(reading, At("open"), plan::kAllFileRights);
  for (proto::MakePlan request : {proto::MakePlan(), itself, reading}) {
    request.set_id(kGuestId);
    EXPECT_EQ(InChild([&] {
                KernelPlans plans;
                if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !plans.Make(request)) return 1;
                for (int i = 0; i < 3; ++i) {
                  const auto binding = plans.Bind(1);
                  if (!binding || binding->thread != nullptr || binding->rules == nullptr) return 2;
                }
                return 0;
              }),
              0);
  }
}

TEST_F(KernelPlansTest, KeepsAFewAndForgetsTheOldest) {
  EXPECT_EQ(InChild([] {
              KernelPlans plans;
              proto::MakePlan request;
              request.set_id(kUser);
              if (plans.Bind(0) || plans.Bind(1)) return 1;
              for (std::uint64_t i = 1; i <= KernelPlans::kMost; ++i) {
                if (plans.Make(request) != i) return 2;
              }
              if (!plans.Bind(1) || !plans.Bind(KernelPlans::kMost)) return 3;
              if (plans.Make(request) != KernelPlans::kMost + 1) return 4;
              if (plans.Bind(1) || !plans.Bind(2)) return 5;
              return !plans.Bind(0) && !plans.Bind(KernelPlans::kMost + 2) ? 0 : 6;
            }),
            0);
}

}  // namespace
}  // namespace caisson::guest
