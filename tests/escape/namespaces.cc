#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "caisson/os/fd.h"
#include "escape/attempt.h"
#include "escape/probe.h"
#include "escape/scratch.h"

namespace caisson::escape {
namespace {

constexpr int kNewTime = 0x00000080;  // CLONE_NEWTIME, newer than some headers

Probe Unshares(const char* what, int flag) {
  return {std::string("unshare_") + what, "D1", std::string("unshare the ") + what + " namespace",
          [flag](const Context&) { return FromReturn(::syscall(SYS_unshare, flag)); }};
}

Probe Clones(const char* what, unsigned long flag) {
  return {std::string("clone_new") + what, "D1", std::string("clone into a new ") + what + " namespace",
          [flag](const Context&) {
            const long child = ::syscall(SYS_clone, flag | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
            if (child == 0) ::_exit(0);
            if (child < 0) return Refused(errno);
            ::waitpid(static_cast<pid_t>(child), nullptr, 0);
            return Succeeded();
          }};
}

Outcome Enter(const std::string& path, int type) {
  const os::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return Refused(errno, path);
  return FromReturn(::syscall(SYS_setns, fd.get(), type));
}

Outcome EnterInitNamespace(const Context& context) {
  const std::string* process = context.Find("process");
  return Enter("/proc/" + (process == nullptr ? std::string("1") : *process) + "/ns/mnt", CLONE_NEWNS);
}

Outcome EnterOwnNamespace(const Context&) { return Enter("/proc/self/ns/uts", CLONE_NEWUTS); }

Outcome MountType(const char* type) {
  const Scratch scratch;
  if (!scratch.valid()) return NotRun("no scratch directory");
  if (::mount("none", scratch.path().c_str(), type, 0, nullptr) != 0) return Refused(errno);
  ::umount2(scratch.path().c_str(), MNT_DETACH);
  return Succeeded();
}

Outcome MountTmpfs(const Context&) { return MountType("tmpfs"); }
Outcome MountProc(const Context&) { return MountType("proc"); }
Outcome MountCgroup(const Context&) { return MountType("cgroup2"); }
Outcome MountSysfs(const Context&) { return MountType("sysfs"); }
Outcome MountDebugfs(const Context&) { return MountType("debugfs"); }

// With an option that no file system has, so that nothing is mounted where it is allowed.
Probe AsksToMount(const char* name, const char* catalogue, const char* type) {
  return {name, catalogue, std::string("mount a file system of type ") + type, [type](const Context&) {
            const Scratch scratch;
            if (!scratch.valid()) return NotRun("no scratch directory");
            return FromReturn(::mount("none", scratch.path().c_str(), type, 0, "escape_no_such_option"));
          }};
}

Outcome BindRoot(const Context&) {
  const Scratch scratch;
  if (!scratch.valid()) return NotRun("no scratch directory");
  if (::mount("/", scratch.path().c_str(), nullptr, MS_BIND, nullptr) != 0) return Refused(errno);
  ::umount2(scratch.path().c_str(), MNT_DETACH);
  return Succeeded();
}

// With MS_BIND only this mount of our own table changes, never the file system.
Outcome RemountRoot(const Context&) {
  return FromReturn(::mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND | MS_NOATIME, nullptr));
}

Outcome RemountProcSys(const Context&) {
  return FromReturn(::mount(nullptr, "/proc", nullptr, MS_REMOUNT | MS_BIND, nullptr));
}

Outcome UnmountProc(const Context&) { return FromReturn(::umount2("/proc", MNT_DETACH)); }
Outcome ChangeRoot(const Context&) { return FromReturn(::chroot("/")); }

Outcome SharePropagation(const Context&) { return FromReturn(::mount(nullptr, "/", nullptr, MS_SHARED, nullptr)); }

// Outside, the private copy of the mount table is made shared first: the control that it would be seen.
Outcome FindPropagation(const Context&) {
  (void)!::mount(nullptr, "/", nullptr, MS_SHARED, nullptr);
  const std::string table = Content("/proc/self/mountinfo");
  const bool found = table.find(" shared:") != std::string::npos || table.find(" master:") != std::string::npos;
  return found ? Succeeded() : Refused(ENOENT);
}

// `--namespaces` holds the host's links as "user:[1],pid:[2],".
Outcome ShareHostNamespace(const Context& context) {
  const std::string* host = context.Find("namespaces");
  if (host == nullptr) return NotRun("needs --namespaces");
  std::string shared;
  for (const char* name : {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"}) {
    const std::string path = std::string("/proc/self/ns/") + name;
    char link[64] = {};
    if (::readlink(path.c_str(), link, sizeof(link) - 1) <= 0) return NotRun("cannot read " + path);
    if (host->find(std::string(link) + ",") != std::string::npos) shared.append(" ").append(name);
  }
  return shared.empty() ? Refused(ENOENT) : Succeeded("shared:" + shared);
}

}  // namespace

Probes NamespaceProbes() {
  return {
      Unshares("user", CLONE_NEWUSER),
      Unshares("mount", CLONE_NEWNS),
      Unshares("pid", CLONE_NEWPID),
      Unshares("net", CLONE_NEWNET),
      Unshares("ipc", CLONE_NEWIPC),
      Unshares("uts", CLONE_NEWUTS),
      Unshares("cgroup", CLONE_NEWCGROUP),
      Unshares("time", kNewTime),
      Clones("user", CLONE_NEWUSER),
      Clones("mount", CLONE_NEWNS),
      Clones("pid", CLONE_NEWPID),
      Clones("net", CLONE_NEWNET),
      Clones("ipc", CLONE_NEWIPC),
      Clones("uts", CLONE_NEWUTS),
      Clones("cgroup", CLONE_NEWCGROUP),
      {"setns_init", "B8", "enter a namespace of process 1", EnterInitNamespace},
      {"setns_own", "F7", "enter a namespace at all", EnterOwnNamespace},
      {"host_namespace", "B3", "share a namespace with the host", ShareHostNamespace},
      {"mount_tmpfs", "F7", "mount a tmpfs", MountTmpfs},
      {"mount_proc", "B2", "mount a fresh proc", MountProc},
      {"mount_cgroup", "E1", "mount a cgroup hierarchy", MountCgroup},
      AsksToMount("mount_cgroup_v1", "E1", "cgroup"),
      AsksToMount("mount_overlay", "A24", "overlay"),
      AsksToMount("mount_fuse", "H12", "fuse"),
      {"mount_sysfs", "B6", "mount sysfs", MountSysfs},
      {"mount_debugfs", "B6", "mount debugfs", MountDebugfs},
      {"mount_bind", "A16", "bind the root elsewhere", BindRoot},
      {"remount_root", "A21", "change the flags of the root mount", RemountRoot},
      {"remount_proc", "B2", "change the flags of /proc", RemountProcSys},
      {"share_root", "A22", "make the root mount shared", SharePropagation},
      {"propagation", "A22", "have a mount that passes mounts on", FindPropagation},
      {"umount_proc", "B2", "unmount /proc", UnmountProc},
      {"chroot", "F7", "change the root directory", ChangeRoot},
  };
}

}  // namespace caisson::escape
