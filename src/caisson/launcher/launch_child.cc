#include "caisson/launcher/launch_child.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <initializer_list>

#include "caisson/base/weakened.h"
#include "caisson/os/write_child.h"

// Runs in the new process while it still has the launcher's descriptors: system calls only. Every step returns 0 or an
// errno; BuildSandbox at the end is the list of steps, and their order is the security argument.

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
  const int result = Errno(move_mount(mount, "", point, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH));
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

// Moves what was prepared at `from`, with all that is mounted in it.
int MoveTo(const char* from, const char* path) {
  int point = -1;
  if (const int error = OpenPoint(path, &point); error != 0) return error;
  const int result = Errno(move_mount(AT_FDCWD, from, point, "", MOVE_MOUNT_T_EMPTY_PATH));
  close(point);
  return result;
}

// An order with its descriptors.
struct Received {
  BuildOrder order;
  int fds[3 + kMaxFolders];
  int fd_count;

  int control() const { return fds[0]; }
  int root() const { return fds[1]; }
  int workspace() const { return order.has_workspace != 0 ? fds[2] : -1; }
  int folder(std::uint32_t i) const { return fds[2 + (order.has_workspace != 0 ? 1 : 0) + i]; }
};

// Keeps stdio and what the plan names: nothing of other sandboxes, the keeper or the engine, and not the launcher's end
// of the orders, whose closing must be seen.
int CloseOthers(const ChildPlan& plan) {
  if (Weakened("guest_descriptors", "close_range")) return 0;
  int kept[] = {plan.orders, plan.report, plan.devices, plan.tasks[0], plan.tasks[1], plan.tasks[2]};
  constexpr int kCount = sizeof kept / sizeof kept[0];
  for (int i = 1; i < kCount; ++i) {
    for (int j = i; j > 0 && kept[j - 1] > kept[j]; --j) {
      const int larger = kept[j - 1];
      kept[j - 1] = kept[j];
      kept[j] = larger;
    }
  }
  int next = 3;
  for (const int fd : kept) {
    if (fd > next && syscall(SYS_close_range, next, fd - 1, 0U) != 0) return errno;
    if (fd >= next) next = fd + 1;
  }
  return Errno(syscall(SYS_close_range, next, ~0U, 0U));
}

int AwaitIdMaps(const ChildPlan& plan) {
  char byte = 0;
  ssize_t n = 0;
  do {
    n = read(plan.orders, &byte, 1);
  } while (n < 0 && errno == EINTR);
  if (n == 0) _exit(0);
  return n == 1 ? 0 : errno;
}

int AwaitOrder(const ChildPlan& plan, Received* received) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof received->fds)] = {};
  iovec vec{&received->order, sizeof received->order};
  msghdr header{};
  header.msg_iov = &vec;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  ssize_t n = 0;
  do {
    n = recvmsg(plan.orders, &header, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n == 0) _exit(0);  // never needed
  if (n < 0) return errno;
  const cmsghdr* part = CMSG_FIRSTHDR(&header);
  if (n != sizeof received->order || part == nullptr || part->cmsg_type != SCM_RIGHTS) return EBADMSG;
  received->fd_count = static_cast<int>((part->cmsg_len - CMSG_LEN(0)) / sizeof(int));
  const int* fds = reinterpret_cast<const int*>(CMSG_DATA(part));
  for (int i = 0; i < received->fd_count; ++i) received->fds[i] = fds[i];
  const std::uint32_t expected = 2 + received->order.has_workspace + received->order.folder_count;
  return received->order.has_workspace <= 1 && static_cast<std::uint32_t>(received->fd_count) == expected ? 0 : EBADMSG;
}

int BecomeRootOfSandbox() {
  if (syscall(SYS_setgroups, 0, nullptr) != 0) return errno;
  if (syscall(SYS_setresgid, 0, 0, 0) != 0) return errno;
  return Errno(syscall(SYS_setresuid, 0, 0, 0));
}

int MountRoot(const Received& received) {
  if (move_mount(received.root(), "", AT_FDCWD, "/new", MOVE_MOUNT_F_EMPTY_PATH) != 0) return errno;
  return Errno(chdir("/new"));
}

int MountFolders(const Received& received) {
  for (std::uint32_t i = 0; i < received.order.folder_count; ++i) {
    if (const int error = AttachAt(received.folder(i), received.order.folders[i]); error != 0) return error;
  }
  return 0;
}

int MountDevpts() {
  const Option options[] = {
      {"newinstance", nullptr}, {"ptmxmode", "0666"}, {"mode", "0620"}, {"gid", "5"}, {"max", "64"}};
  return MountNew("devpts", options, 5, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, "stage/dev/pts");
}

int MountShm(const BuildOrder& order) {
  const Option options[] = {{"mode", "1777"}, {"size", order.shm_size}, {"nr_inodes", order.shm_inodes}};
  const unsigned attributes = order.shm_is_noexec != 0 ? kNoSuidNoDevNoExec : kNoSuidNoDev;
  return MountNew("tmpfs", options, 3, attributes, "dev/shm");
}

int MountProc() { return MountNew("proc", nullptr, 0, kNoSuidNoDevNoExec, "stage/proc"); }

int WriteSysctl(const char* path, const char* value, std::size_t length) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return errno;
  const int error = os::WriteWhole(file, value, length);
  close(file);
  return error;
}

// Even where a filter fails, no namespace below this one.
int SetSysctls() {
  // Without a user namespace of the sandbox's own, this would be the host's.
  if (Weakened("nested_user_namespaces", "user_namespace")) return 0;
  return WriteSysctl("stage/proc/sys/user/max_user_namespaces", "0", 1);
}

// What everybody may read there and nobody in a sandbox needs. A name the kernel does not have is skipped.
struct Mask {
  const char* path;
  bool is_folder;
};
constexpr Mask kMasked[] = {
    {"stage/proc/acpi", true},         {"stage/proc/asound", true},    {"stage/proc/config.gz", false},
    {"stage/proc/interrupts", false},  {"stage/proc/kallsyms", false}, {"stage/proc/kcore", false},
    {"stage/proc/key-users", false},   {"stage/proc/keys", false},     {"stage/proc/latency_stats", false},
    {"stage/proc/sched_debug", false}, {"stage/proc/scsi", true},      {"stage/proc/timer_list", false},
    {"stage/proc/timer_stats", false}};
// Read-only whatever the caller's rights: these reach the whole host.
constexpr const char* kReadOnly[] = {"stage/proc/bus", "stage/proc/fs", "stage/proc/irq", "stage/proc/sys",
                                     "stage/proc/sysrq-trigger"};

// Covers `path` with `mount`, which is consumed; a path that does not exist needs no cover.
int Cover(int mount, const char* path) {
  if (mount < 0) return errno == ENOENT ? 0 : errno;
  const int error = Errno(move_mount(mount, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH));
  close(mount);
  return error == ENOENT ? 0 : error;
}

int MaskProc() {
  if (Weakened("proc_masks")) return 0;
  for (const Mask& mask : kMasked) {
    // The masks are read-only mounts of the launcher's, and so are their copies.
    const char* source = mask.is_folder ? "/masks/folder" : "/masks/file";
    const int mount = faccessat(AT_FDCWD, mask.path, F_OK, AT_SYMLINK_NOFOLLOW) != 0
                          ? -1
                          : open_tree(AT_FDCWD, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (const int error = Cover(mount, mask.path); error != 0) return error;
  }
  return 0;
}

int MakeProcReadOnly() {
  if (Weakened("proc_read_only")) return 0;
  for (const char* path : kReadOnly) {
    const int mount = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    mount_attr attributes{};
    attributes.attr_set = MOUNT_ATTR_RDONLY;
    if (mount >= 0 && mount_setattr(mount, "", AT_EMPTY_PATH, &attributes, sizeof attributes) != 0) return errno;
    if (const int error = Cover(mount, path); error != 0) return error;
  }
  return 0;
}

int MountWorkspace(const Received& received) {
  if (received.workspace() < 0) return 0;
  for (const char* parent : {"home", "home/agent"}) {
    int point = -1;
    if (const int error = OpenPoint(parent, &point); error != 0) return error;
    close(point);
  }
  return AttachAt(received.workspace(), "home/agent/workspace");
}

int EnterRoot() {
  if (syscall(SYS_pivot_root, ".", ".") != 0) return errno;
  if (!Weakened("old_root") && umount2(".", MNT_DETACH) != 0) return errno;
  return Errno(chdir("/"));
}

int SetHostname(const ChildPlan& plan) {
  if (Weakened("uts_namespace")) return 0;
  std::size_t length = 0;
  while (plan.hostname[length] != '\0') ++length;
  return Errno(sethostname(plan.hostname, length));
}

// Leaves nothing of the launcher's but the control socket, as descriptor 3, and /dev/null as stdio. The report pipe
// closes too, which tells the launcher that all went well.
int KeepOnlyControl(const Received& received, [[maybe_unused]] int report) {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return errno;
  for (int fd = 0; fd <= 2; ++fd) {
    if (dup2(null, fd) < 0) return errno;
  }
  if (received.control() != 3 && dup3(received.control(), 3, O_CLOEXEC) < 0) return errno;
  // The report's end must be told all the same.
  if (Weakened("guest_descriptors", "close_range")) return Errno(close(report));
  return Errno(syscall(SYS_close_range, 4U, ~0U, 0U));
}

void Step(const ChildPlan& plan, plan::Step step, int error) {
  if (error == 0) return;
  const ChildFailure failure{step, error};
  (void)os::WriteWhole(plan.report, reinterpret_cast<const char*>(&failure), sizeof failure);
  _exit(1);
}

}  // namespace

void BuildSandbox(const ChildPlan& plan) {
  umask(0022);
  Step(plan, plan::Step::kClone, CloseOthers(plan));
  Step(plan, plan::Step::kIdMaps, AwaitIdMaps(plan));
  Step(plan, plan::Step::kJoinCgroup, os::JoinCgroups(plan.tasks));
  Step(plan, plan::Step::kIdMaps, BecomeRootOfSandbox());
  Step(plan, plan::Step::kMountDev, AttachAt(plan.devices, "stage/dev"));
  Step(plan, plan::Step::kMountDevpts, MountDevpts());
  Step(plan, plan::Step::kMountProc, MountProc());
  Step(plan, plan::Step::kSysctl, SetSysctls());
  Step(plan, plan::Step::kMaskProc, MaskProc());
  Step(plan, plan::Step::kMaskProc, MakeProcReadOnly());
  Step(plan, plan::Step::kHostname, SetHostname(plan));

  Received received{};
  Step(plan, plan::Step::kRequest, AwaitOrder(plan, &received));
  Step(plan, plan::Step::kMountRoot, MountRoot(received));
  Step(plan, plan::Step::kMountUsr, MountFolders(received));
  Step(plan, plan::Step::kMountDev, MoveTo("/stage/dev", "dev"));
  Step(plan, plan::Step::kMountShm, MountShm(received.order));
  Step(plan, plan::Step::kMountProc, MoveTo("/stage/proc", "proc"));
  Step(plan, plan::Step::kMountWorkspace, MountWorkspace(received));
  Step(plan, plan::Step::kPivotRoot, EnterRoot());
  Step(plan, plan::Step::kStartGuest, KeepOnlyControl(received, plan.report));
}

}  // namespace caisson::launcher
