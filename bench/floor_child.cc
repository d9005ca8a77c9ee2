#include "bench/floor_child.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace caisson::bench {
namespace {

[[noreturn]] void Give(FloorStep step) { ::_exit(kFirstFloorStep + static_cast<int>(step)); }

int SetString(int fs_fd, const char* key, const char* value) {
  return ::fsconfig(fs_fd, FSCONFIG_SET_STRING, key, value, 0);
}

// A detached overlay mount, or -1. `userxattr`: a user namespace may not write trusted.* attributes.
int MountOverlay(const FloorPlan& plan) {
  const int fs_fd = ::fsopen("overlay", FSOPEN_CLOEXEC);
  if (fs_fd < 0 || SetString(fs_fd, "lowerdir", plan.lower) != 0 || SetString(fs_fd, "upperdir", plan.upper) != 0 ||
      SetString(fs_fd, "workdir", plan.work) != 0 ||
      ::fsconfig(fs_fd, FSCONFIG_SET_FLAG, "userxattr", nullptr, 0) != 0 ||
      ::fsconfig(fs_fd, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) {
    return -1;
  }
  return ::fsmount(fs_fd, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

}  // namespace

void RunFloorChild(const FloorPlan& plan) {
  char go = 0;
  if (::read(plan.go_fd, &go, 1) != 1) Give(FloorStep::kGo);
  // Overlay makes files in its work directory with the ids of its mounter, which must be mapped.
  if (::setresgid(0, 0, 0) != 0 || ::setresuid(0, 0, 0) != 0) Give(FloorStep::kIds);

  const int root_fd = MountOverlay(plan);
  if (root_fd < 0) Give(FloorStep::kOverlay);
  if (::move_mount(root_fd, "", AT_FDCWD, plan.merged, MOVE_MOUNT_F_EMPTY_PATH) != 0 || ::chdir(plan.merged) != 0) {
    Give(FloorStep::kAttach);
  }
  if (::mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) Give(FloorStep::kProc);
  // Stacks the old root on the new one, so that it can be detached without a directory of its own.
  if (::syscall(SYS_pivot_root, ".", ".") != 0) Give(FloorStep::kPivot);
  if (::umount2(".", MNT_DETACH) != 0 || ::chdir("/") != 0) Give(FloorStep::kDetach);

  char name[] = "/bin/true";
  char* const arguments[] = {name, nullptr};
  char* const environment[] = {nullptr};
  ::execve(name, arguments, environment);
  Give(FloorStep::kExec);
}

}  // namespace caisson::bench
