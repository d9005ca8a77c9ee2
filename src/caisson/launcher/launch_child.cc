#include "caisson/launcher/launch_child.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <initializer_list>

// Runs in the new process while it still has the launcher's descriptors: system calls only. Every step returns 0 or an
// errno; BuildSandbox at the end is the list of
// steps, and their order is the security argument.

namespace caisson::launcher {
namespace {

constexpr unsigned kNoSuidNoDev = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
constexpr unsigned kNoSuidNoDevNoExec = kNoSuidNoDev | MOUNT_ATTR_NOEXEC;

int Errno(long result) { return result < 0 ? errno : 0; }

// A folder of the new root to mount on, made when it is missing. A link in its place is refused: an image decides
// nothing about where mounts go.
int OpenPoint(const char* path, int* point) {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  long fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
  if (fd < 0 && errno == ENOENT) {
    if (mkdirat(AT_FDCWD, path, 0755) != 0) return errno;
    fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
  }
  *point = static_cast<int>(fd);
  return Errno(fd);
}

int AttachAt(int mount, const char* path) {
  int point = -1;
  if (const int error = OpenPoint(path, &point); error != 0) return error;
  const int result =
      Errno(move_mount(mount, "", point, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH));
  close(point);
  return result;
}

struct Option {
  const char* key;
  const char* value;
};

int MakeFileSystem(const char* type, const Option* options, std::size_t count, unsigned attributes, int* mount) {
  const int context = fsopen(type, FSOPEN_CLOEXEC);
  if (context < 0) return errno;
  int error = 0;
  for (std::size_t i = 0; i < count && error == 0; ++i) {
    error = Errno(options[i].value == nullptr
                      ? fsconfig(context, FSCONFIG_SET_FLAG, options[i].key, nullptr, 0)
                      : fsconfig(context, FSCONFIG_SET_STRING, options[i].key, options[i].value, 0));
  }
  if (error == 0) error = Errno(fsconfig(context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0));
  if (error == 0) {
    *mount = fsmount(context, FSMOUNT_CLOEXEC, attributes);
    error = Errno(*mount);
  }
  close(context);
  return error;
}

int MountNew(const char* type, const Option* options, std::size_t count, unsigned attributes, const char* path) {
  int mount = -1;
  int error = MakeFileSystem(type, options, count, attributes, &mount);
  if (error == 0) error = AttachAt(mount, path);
  if (mount >= 0) close(mount);
  return error;
}

int AwaitIdMaps(const ChildPlan& plan) {
  char byte = 0;
  return read(plan.go, &byte, 1) == 1 ? 0 : EPIPE;
}

int JoinCgroups(const ChildPlan& plan) {
  for (const int file : plan.tasks) {
    if (file >= 0 && write(file, "0", 1) != 1) return errno;
  }
  return 0;
}

int BecomeRootOfSandbox() {
  if (syscall(SYS_setgroups, 0, nullptr) != 0) return errno;
  if (syscall(SYS_setresgid, 0, 0, 0) != 0) return errno;
  return Errno(syscall(SYS_setresuid, 0, 0, 0));
}

int MountRoot(const ChildPlan& plan) {
  umask(0022);
  if (move_mount(plan.root, "", AT_FDCWD, "/new", MOVE_MOUNT_F_EMPTY_PATH) != 0) return errno;
  return Errno(chdir("/new"));
}

int MountFolders(const ChildPlan& plan) {
  for (int i = 0; i < plan.folder_count; ++i) {
    if (const int error = AttachAt(plan.folders[i].mount, plan.folders[i].name); error != 0) return error;
  }
  return 0;
}

int MountDevpts() {
  const Option options[] = {{"newinstance", nullptr}, {"ptmxmode", "0666"}, {"mode", "0620"}, {"gid", "5"}, {"max", "64"}};
  return MountNew("devpts", options, 5, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, "dev/pts");
}

int MountShm(const ChildPlan& plan) {
  const Option options[] = {{"mode", "1777"}, {"size", plan.shm_size}, {"nr_inodes", plan.shm_inodes}};
  return MountNew("tmpfs", options, 3, kNoSuidNoDev, "dev/shm");
}

int MountProc() { return MountNew("proc", nullptr, 0, kNoSuidNoDevNoExec, "proc"); }

int WriteSysctl(const char* path, const char* value, std::size_t length) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return errno;
  const int error = write(file, value, length) == static_cast<ssize_t>(length) ? 0 : errno;
  close(file);
  return error;
}

// Even where a filter fails, no namespace below this one.
int SetSysctls() { return WriteSysctl("proc/sys/user/max_user_namespaces", "0", 1); }

// What everybody may read there and nobody in a sandbox needs. A name the kernel does not have is skipped.
struct Mask {
  const char* path;
  bool is_folder;
};
constexpr Mask kMasked[] = {{"proc/acpi", true},           {"proc/asound", true},     {"proc/config.gz", false},
                            {"proc/interrupts", false},    {"proc/kallsyms", false},  {"proc/kcore", false},
                            {"proc/key-users", false},     {"proc/keys", false},      {"proc/latency_stats", false},
                            {"proc/sched_debug", false},   {"proc/scsi", true},       {"proc/timer_list", false},
                            {"proc/timer_stats", false}};
// Read-only whatever the caller's rights: these reach the whole host.
constexpr const char* kReadOnly[] = {"proc/bus", "proc/fs", "proc/irq", "proc/sys", "proc/sysrq-trigger"};

// Covers `path` with `mount`, which is consumed; a path that does not exist needs no cover.
int Cover(int mount, const char* path) {
  if (mount < 0) return errno == ENOENT ? 0 : errno;
  const int error = Errno(move_mount(mount, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH));
  close(mount);
  return error == ENOENT ? 0 : error;
}

int MaskProc() {
  for (const Mask& mask : kMasked) {
    // The masks are read-only mounts of the launcher's, and so are their copies.
    const char* source = mask.is_folder ? "/masks/folder" : "/masks/file";
    const int mount = faccessat(AT_FDCWD, mask.path, F_OK, AT_SYMLINK_NOFOLLOW) != 0
                          ? -1
                          : open_tree(AT_FDCWD, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (const int error = Cover(mount, mask.path); error != 0) return error;
  }
  for (const char* path : kReadOnly) {
    const int mount = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    mount_attr attributes{};
    attributes.attr_set = MOUNT_ATTR_RDONLY;
    if (mount >= 0 && mount_setattr(mount, "", AT_EMPTY_PATH, &attributes, sizeof attributes) != 0) return errno;
    if (const int error = Cover(mount, path); error != 0) return error;
  }
  return 0;
}

int MountWorkspace(const ChildPlan& plan) {
  if (plan.workspace < 0) return 0;
  for (const char* parent : {"home", "home/agent"}) {
    int point = -1;
    if (const int error = OpenPoint(parent, &point); error != 0) return error;
    close(point);
  }
  return AttachAt(plan.workspace, "home/agent/workspace");
}

int EnterRoot() {
  if (syscall(SYS_pivot_root, ".", ".") != 0) return errno;
  if (umount2(".", MNT_DETACH) != 0) return errno;
  return Errno(chdir("/"));
}

int SetHostname(const ChildPlan& plan) {
  std::size_t length = 0;
  while (plan.hostname[length] != '\0') ++length;
  return Errno(sethostname(plan.hostname, length));
}

// Leaves nothing of the launcher's but the control socket, as descriptor 3, and /dev/null as stdio. The report pipe closes
// too, which tells the launcher that all went well.
int KeepOnlyControl(const ChildPlan& plan) {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return errno;
  for (int fd = 0; fd <= 2; ++fd) {
    if (dup2(null, fd) < 0) return errno;
  }
  if (plan.control != 3 && dup3(plan.control, 3, O_CLOEXEC) < 0) return errno;
  return Errno(syscall(SYS_close_range, 4U, ~0U, 0U));
}

void Step(const ChildPlan& plan, plan::Step step, int error) {
  if (error == 0) return;
  const ChildFailure failure{step, error};
  (void)!write(plan.report, &failure, sizeof failure);
  _exit(1);
}

}  // namespace

void BuildSandbox(const ChildPlan& plan) {
  Step(plan, plan::Step::kIdMaps, AwaitIdMaps(plan));
  Step(plan, plan::Step::kJoinCgroup, JoinCgroups(plan));
  Step(plan, plan::Step::kIdMaps, BecomeRootOfSandbox());
  Step(plan, plan::Step::kMountRoot, MountRoot(plan));
  Step(plan, plan::Step::kMountUsr, MountFolders(plan));
  Step(plan, plan::Step::kMountDev, AttachAt(plan.devices, "dev"));
  Step(plan, plan::Step::kMountDevpts, MountDevpts());
  Step(plan, plan::Step::kMountShm, MountShm(plan));
  Step(plan, plan::Step::kMountProc, MountProc());
  Step(plan, plan::Step::kSysctl, SetSysctls());
  Step(plan, plan::Step::kMaskProc, MaskProc());
  Step(plan, plan::Step::kMountWorkspace, MountWorkspace(plan));
  Step(plan, plan::Step::kPivotRoot, EnterRoot());
  Step(plan, plan::Step::kHostname, SetHostname(plan));
  Step(plan, plan::Step::kStartGuest, KeepOnlyControl(plan));
}

}  // namespace caisson::launcher
