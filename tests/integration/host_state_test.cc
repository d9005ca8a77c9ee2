#include "support/host_state.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "caisson/base/deadline.h"
#include "caisson/os/cgroup.h"
#include "caisson/os/fd.h"
#include "caisson/os/loop_device.h"
#include "caisson/storage/store_upkeep.h"
#include "caisson/storage/uid_blocks.h"
#include "support/caisson_run.h"
#include "support/integration_test.h"
#include "support/temp_folder.h"

// What the other tests rely on to notice what is left behind: each kind of thing is made, seen, and no longer seen.

namespace caisson::support {
namespace {

class HostStateTest : public IntegrationTest {
 protected:
  // What is there now and was not before, and begins with `kind`.
  HostState New(const std::string& kind) const {
    HostState found;
    for (const std::string& item : ReadHostState()) {
      if (!before().contains(item) && item.starts_with(kind)) found.insert(item);
    }
    return found;
  }
  // Locks and files are not looked at while others work with them.
  // The launcher of the test before may still be cleaning up.
  static bool NobodyElse() {
    const Deadline deadline = Deadline::In(std::chrono::seconds(10));
    while (OthersUseCaisson() && !deadline.Passed()) poll(nullptr, 0, 20);
    return !OthersUseCaisson();
  }
};

TEST_F(HostStateTest, SeesAProcess) {
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_NAME, "caisson-guest");
    while (true) pause();
  }
  while (ReadFile("/proc/" + std::to_string(pid) + "/comm") != "caisson-guest\n") sched_yield();
  EXPECT_EQ(New("process ").size(), 1U);
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  EXPECT_EQ(New("process "), HostState());
}

TEST_F(HostStateTest, SeesAMount) {
  const TempFolder folder;
  if (mount("none", folder.path().c_str(), "tmpfs", 0, nullptr) != 0) GTEST_SKIP() << "nothing can be mounted here";
  EXPECT_EQ(New("mount ").size(), 1U);
  EXPECT_EQ(umount(folder.path().c_str()), 0);
  EXPECT_EQ(New("mount "), HostState());
}

TEST_F(HostStateTest, SeesACgroup) {
  const std::string name = "left-" + std::to_string(getpid());
  RunScript({}, "true");
  const auto roots = os::Cgroup::Roots();
  ASSERT_TRUE(roots);
  const auto folder = roots->OpenOrMakeChild("caisson");
  ASSERT_TRUE(folder);
  {
    const auto made = folder->MakeChild(name);
    ASSERT_TRUE(made);
  }
  EXPECT_FALSE(New("cgroup ").empty());
  EXPECT_TRUE(folder->RemoveChild(name));
  roots->RemoveChildIfUnused("caisson");
  EXPECT_EQ(New("cgroup "), HostState());
}

TEST_F(HostStateTest, SeesALoopDevice) {
  RunScript({}, "true");  // makes the folder
  const std::string path = "/var/lib/caisson/" + UniqueMarker();
  WriteFile(path, std::string(1 << 20, 'x'));
  const os::Fd file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  const auto device = os::LoopDevice::Attach(file);
  const HostState seen = New("loop device ");
  unlink(path.c_str());
  if (!device) GTEST_SKIP() << "no loop device here: " << device.error().message();
  EXPECT_TRUE(device->Detach());
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_NE(seen.begin()->find(path), std::string::npos) << *seen.begin();
}

// On a store of the host's own: its subvolume and quota group are made and removed beside whatever else it holds.
TEST_F(HostStateTest, SeesASubvolumeAndAQuotaGroup) {
  RunScript({}, "true");  // makes the folders
  if (!NobodyElse()) GTEST_SKIP() << "others on this host use Caisson now";
  const os::Fd data(open("/var/lib/caisson", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  auto layers = storage::OpenStore(data, "/var/lib/caisson", storage::MountStore::kIfNeeded);
  if (!layers || !*layers) GTEST_SKIP() << "this host has no store";
  const std::string name = UniqueMarker();
  {
    const auto layer = (*layers)->CreateLayer(name, MiB(1));
    ASSERT_TRUE(layer) << layer.error().message();
  }
  const HostState subvolumes = New("subvolume ");
  const HostState groups = New("quota group ");
  EXPECT_TRUE((*layers)->DeleteLayer(name));
  if (!NobodyElse()) GTEST_SKIP() << "others on this host use Caisson now";
  EXPECT_EQ(subvolumes.size(), 1U);
  EXPECT_EQ(groups.size(), 2U);
}

TEST_F(HostStateTest, SeesADescriptor) {
  os::Fd file(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(New("descriptor ").size(), 1U);
  file.Reset();
  EXPECT_EQ(New("descriptor "), HostState());
}

TEST_F(HostStateTest, SeesASystemVObject) {
  const int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
  ASSERT_GE(id, 0);
  EXPECT_TRUE(New("System V ").contains("System V shm " + std::to_string(id)));
  EXPECT_EQ(shmctl(id, IPC_RMID, nullptr), 0);
  EXPECT_EQ(New("System V "), HostState());
}

TEST_F(HostStateTest, SeesANamedNetworkNamespace) {
  const bool made = mkdir("/run/netns", 0755) == 0;
  const std::string path = "/run/netns/" + UniqueMarker();
  WriteFile(path, "");
  EXPECT_EQ(New("network namespace "), HostState{"network namespace " + path});
  unlink(path.c_str());
  if (made) rmdir("/run/netns");
}

TEST_F(HostStateTest, SeesAUidBlockAndFilesOfTheDataFolder) {
  RunScript({}, "true");  // makes the folders
  if (!NobodyElse()) GTEST_SKIP() << "others on this host use Caisson now";
  const os::Fd runtime(open("/run/caisson", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  auto blocks = storage::UidBlocks::Open(runtime);
  ASSERT_TRUE(blocks);
  const auto block = blocks->Take();
  ASSERT_TRUE(block);
  const std::string name = UniqueMarker();
  for (const char* place : {"", "spool/", "sandboxes/"}) WriteFile("/var/lib/caisson/" + (place + name), "");
  const HostState locks = New("lock of the uid block " + std::to_string(*block));
  const HostState files = New("file ");
  for (const char* place : {"", "spool/", "sandboxes/"}) unlink(("/var/lib/caisson/" + (place + name)).c_str());
  if (!NobodyElse()) GTEST_SKIP() << "others on this host use Caisson now";
  EXPECT_EQ(locks.size(), 1U);
  for (const char* place : {"", "spool/", "sandboxes/"}) {
    EXPECT_TRUE(files.contains("file /var/lib/caisson/" + (place + name))) << place;
  }
}

}  // namespace
}  // namespace caisson::support
