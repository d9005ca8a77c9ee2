#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "caisson/os/cgroup.h"

namespace caisson::os {
namespace {

// Every test has a cgroup of its own, made below the host's roots.
class OwnedCgroup : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root to make cgroups";
    auto roots = Cgroup::Roots();
    if (!roots) GTEST_SKIP() << "no cgroups here: " << roots.error().message();
    roots_ = *std::move(roots);
    name_ = "caisson-unit-" + std::to_string(getpid());
    auto folder = roots_->MakeChild(name_);
    if (!folder) GTEST_SKIP() << "no cgroup can be made here: " << folder.error().message();
    folder_ = *std::move(folder);
  }
  void TearDown() override {
    if (folder_) {
      EXPECT_TRUE(roots_->RemoveChild(name_));
    }
  }

  // A process in `cgroup` that waits to be killed. -1 when it could not be put there.
  static pid_t StartIn(const Cgroup& cgroup) {
    const int procs = openat(cgroup.unified(), "cgroup.procs", O_WRONLY | O_CLOEXEC);
    const pid_t pid = fork();
    if (pid == 0) {
      close_range(3, ~0U, 0);  // a duplicate would be an owner
      while (true) pause();
    }
    const std::string number = std::to_string(pid);
    const bool moved = write(procs, number.data(), number.size()) > 0;
    close(procs);
    if (moved) return pid;
    End(pid);
    return -1;
  }
  static void End(pid_t pid) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }

  Cgroup::Ownership OwnershipOf(const std::string& name) const {
    const auto children = folder_->Children();
    EXPECT_TRUE(children);
    for (const Cgroup::Child& child : *children) {
      if (child.name == name) return child.ownership;
    }
    ADD_FAILURE() << "no cgroup " << name;
    return Cgroup::Ownership::kNone;
  }

  static Deadline Now() { return Deadline::In(std::chrono::milliseconds(0)); }

  std::string name_;
  std::optional<Cgroup> roots_;
  std::optional<Cgroup> folder_;
};

TEST_F(OwnedCgroup, HasAnOwnerAsLongAsADescriptorIsOpen) {
  auto owned = folder_->MakeOwnedChild("s1");
  ASSERT_TRUE(owned) << owned.error().message();
  EXPECT_EQ(OwnershipOf("s1"), Cgroup::Ownership::kOwned);
  EXPECT_EQ(folder_->MakeOwnedChild("s1").error().code(), Code::kAlreadyExists);
  EXPECT_FALSE(*folder_->RemoveUnownedChild("s1", Now()));
  std::optional<Fd> duplicate = *owned->DuplicateUnified();
  {
    const Cgroup ended = *std::move(owned);
  }
  EXPECT_EQ(OwnershipOf("s1"), Cgroup::Ownership::kOwned) << "another process may hold a duplicate";
  duplicate.reset();
  EXPECT_EQ(OwnershipOf("s1"), Cgroup::Ownership::kNone);
  EXPECT_TRUE(*folder_->RemoveUnownedChild("s1", Now()));
  EXPECT_TRUE(folder_->Children()->empty());
}

TEST_F(OwnedCgroup, ALeftOverIsMadeAnew) {
  {
    const auto left = folder_->MakeOwnedChild("s1");
    ASSERT_TRUE(left && left->MakeChild("c1"));
  }
  const auto again = folder_->MakeOwnedChild("s1");
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_FALSE(*again->FindChild("c1"));
}

TEST_F(OwnedCgroup, OneWithAProcessIsNeitherTakenNorRemovedNorKilled) {
  std::optional<Cgroup> cgroup = *folder_->MakeOwnedChild("s1");
  const pid_t pid = StartIn(*cgroup);
  if (pid < 0) GTEST_SKIP() << "no process can be moved into a cgroup here";
  cgroup.reset();
  EXPECT_EQ(OwnershipOf("s1"), Cgroup::Ownership::kNone);
  EXPECT_EQ(folder_->MakeOwnedChild("s1").error().code(), Code::kAlreadyExists);
  EXPECT_FALSE(*folder_->RemoveUnownedChild("s1", Now()));
  EXPECT_EQ(waitpid(pid, nullptr, WNOHANG), 0) << "the process must live";
  End(pid);
  EXPECT_TRUE(*folder_->RemoveUnownedChild("s1", Deadline::In(std::chrono::seconds(5))));
}

TEST_F(OwnedCgroup, FindsWhatOnlyOneHierarchyHas) {
  EXPECT_FALSE(*folder_->FindChild("s1"));
  {
    const auto made = folder_->MakeOwnedChild("s1");
    ASSERT_TRUE(made);
  }
  if (folder_->mode() == CgroupMode::kUnified) return;
  ASSERT_EQ(unlinkat(folder_->unified(), "s1", AT_REMOVEDIR), 0);
  EXPECT_TRUE(folder_->FindChild("s1")->has_value());
  EXPECT_EQ(OwnershipOf("s1"), Cgroup::Ownership::kNone);
  {
    const auto again = folder_->MakeOwnedChild("s1");
    EXPECT_TRUE(again);
  }
  ASSERT_EQ(unlinkat(folder_->unified(), "s1", AT_REMOVEDIR), 0);
  EXPECT_TRUE(*folder_->RemoveUnownedChild("s1", Now()));
  EXPECT_FALSE(*folder_->FindChild("s1"));
}

}  // namespace
}  // namespace caisson::os
