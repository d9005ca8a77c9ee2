#include "caisson/os/probe.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "caisson/os/cgroup.h"
#include "caisson/os/fd.h"
#include "caisson/os/identity.h"
#include "caisson/os/landlock.h"
#include "caisson/os/mount.h"
#include "caisson/os/namespace.h"

namespace caisson::os {
namespace {

constexpr const char* kNewerKernel =
    "boot Linux 6.1 or newer, and run where a container's filter does not refuse the call";

Primitive Ok(std::string name, std::string found) { return {std::move(name), Finding::kOk, std::move(found), "", ""}; }

Primitive Missing(std::string name, std::string found, std::string remedy) {
  return {std::move(name), Finding::kMissing, std::move(found), "no sandbox can be made", std::move(remedy)};
}

Primitive Degraded(std::string name, std::string found, std::string cost, std::string remedy) {
  return {std::move(name), Finding::kDegraded, std::move(found), std::move(cost), std::move(remedy)};
}

bool IsRoot() { return geteuid() == 0; }

// The text of a small file, without the newline at its end.
std::optional<std::string> ReadText(const char* path) {
  const Fd file(open(path, O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return std::nullopt;
  Result<std::string> text = ReadAll(file.get(), 1U << 20U);
  if (!text) return std::nullopt;
  while (!text->empty() && text->back() == '\n') text->pop_back();
  return *std::move(text);
}

// Runs `body` in a child, so that what it enters or mounts ends with it. Its value: 0 or an errno.
template <typename Body>
int InChild(Body body) {
  const pid_t pid = fork();
  if (pid < 0) return errno;
  if (pid == 0) {
    (void)LeaveChroot();  // as the launcher does; without root the trial itself says what lacks
    _exit(body() & 0xff);
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : EFAULT;
}

// The errno of a Status made from one; 0 for success.
int ErrnoOf(const Status& status) {
  if (status) return 0;
  return status.error().errno_value() != 0 ? status.error().errno_value() : EINVAL;
}

// A primitive from the errno of its trial.
Primitive FromTrial(std::string name, int error, std::string remedy) {
  if (error == 0) return Ok(std::move(name), "works");
  if ((error == EPERM || error == EACCES) && !IsRoot()) {
    return {std::move(name), Finding::kUntested, "cannot be tried without root", "no sandbox can be made",
            "run as root"};
  }
  return Missing(std::move(name), std::strerror(error), std::move(remedy));
}

Primitive ProbeRoot() {
  if (IsRoot()) return Ok("root", "uid 0");
  return Missing("root", "uid " + std::to_string(geteuid()), "run as root, for example: sudo caisson run ...");
}

// Each call is made with arguments that a kernel which knows it refuses with EINVAL or EBADF.
void ProbeSystemCalls(std::vector<Primitive>& list) {
  struct Trial {
    const char* name;
    long result;
    int error;
  };
  const auto attempt = [](const char* name, long number, auto... arguments) {
    errno = 0;
    const long result = syscall(number, arguments...);
    return Trial{name, result, errno};
  };
  const std::array<Trial, 5> trials = {
      attempt("clone3", SYS_clone3, nullptr, 0UL),
      attempt("openat2", SYS_openat2, -1, "", nullptr, 0UL),
      attempt("close_range", SYS_close_range, 2U, 1U, 0U),
      attempt("mount_setattr", SYS_mount_setattr, -1, "", 0U, nullptr, 0UL),
      attempt("pidfd_open", SYS_pidfd_open, -1, 0U),
  };
  for (const Trial& trial : trials) {
    const bool known = trial.result >= 0 || trial.error == EINVAL || trial.error == EBADF || trial.error == EFAULT;
    list.push_back(known ? Ok(trial.name, "works") : FromTrial(trial.name, trial.error, kNewerKernel));
  }
}

void ProbeNamespaces(std::vector<Primitive>& list) {
  struct Kind {
    const char* name;
    int flag;
  };
  constexpr std::array<Kind, 7> kKinds = {{{"user_namespace", CLONE_NEWUSER},
                                           {"mount_namespace", CLONE_NEWNS},
                                           {"pid_namespace", CLONE_NEWPID},
                                           {"network_namespace", CLONE_NEWNET},
                                           {"ipc_namespace", CLONE_NEWIPC},
                                           {"uts_namespace", CLONE_NEWUTS},
                                           {"cgroup_namespace", CLONE_NEWCGROUP}}};
  for (const Kind& kind : kKinds) {
    // Without root the others can only be tried as root of a new user namespace.
    const int flags = IsRoot() ? kind.flag : kind.flag | CLONE_NEWUSER;
    const int error = InChild([flags] { return unshare(flags) == 0 ? 0 : errno; });
    list.push_back(FromTrial(kind.name, error,
                             "allow it: sysctl user.max_user_namespaces and its like above 0, a kernel with "
                             "namespaces, and no outer sandbox that refuses them"));
  }
}

Primitive ProbeUserNamespaceLimit() {
  const std::optional<std::string> limit = ReadText("/proc/sys/user/max_user_namespaces");
  if (!limit) return Missing("max_user_namespaces", "no such setting", "use a kernel with CONFIG_USER_NS");
  if (*limit == "0") return Missing("max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=65536");
  return Ok("max_user_namespaces", *limit);
}

// Makes a cgroup, looks for cgroup.kill in it and removes it.
Primitive ProbeCgroupKill(const Cgroup& roots) {
  const std::string name = "caisson-probe-" + std::to_string(getpid());
  if (mkdirat(roots.unified(), name.c_str(), 0755) != 0) {
    return FromTrial("cgroup_kill", errno, "make the cgroup2 file system writable: run outside a container");
  }
  const bool found = faccessat(roots.unified(), (name + "/cgroup.kill").c_str(), F_OK, 0) == 0;
  unlinkat(roots.unified(), name.c_str(), AT_REMOVEDIR);
  if (!found) return Missing("cgroup_kill", "no cgroup.kill", kNewerKernel);
  return Ok("cgroup_kill", "works");
}

void ProbeCgroups(std::vector<Primitive>& list) {
  const Result<Cgroup> roots = Cgroup::Roots();
  if (!roots) {
    const Error& error = roots.error();
    std::string found = error.message();
    if (!error.cause().empty()) found += ": " + error.cause();
    list.push_back(error.errno_value() == EPERM
                       ? FromTrial("cgroups", EPERM, "mount a cgroup2 file system")
                       : Missing("cgroups", std::move(found),
                                 error.remediation().empty() ? "mount a cgroup2 file system" : error.remediation()));
    return;
  }
  list.push_back(Ok("cgroups", roots->mode() == CgroupMode::kUnified
                                   ? "v2 with memory, cpu and pids"
                                   : "hybrid: memory, cpu and pids on v1, cgroup2 beside them"));
  int writable = 0;
  for (const int directory : roots->Directories()) {
    if (faccessat(directory, ".", W_OK, AT_EACCESS) != 0 && writable == 0) writable = errno;
  }
  list.push_back(
      FromTrial("cgroups_writable", writable, "make the cgroup file systems writable: run outside a container"));
  list.push_back(ProbeCgroupKill(*roots));
}

Primitive ProbeLandlock() {
  const int abi = LandlockAbi();
  if (abi <= 0) return Missing("landlock", "not available", "boot with landlock in the kernel parameter lsm=");
  const std::string found = "ABI " + std::to_string(abi);
  if (abi >= 3) return Ok("landlock", found);
  return Degraded("landlock", found, "truncating files is governed by mounts and modes alone",
                  "boot Linux 6.2 or newer");
}

Primitive ProbeSeccomp() {
  const std::uint32_t action = SECCOMP_RET_KILL_PROCESS;
  const long result = syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0U, &action);
  return FromTrial("seccomp", result == 0 ? 0 : errno, "use a kernel with CONFIG_SECCOMP_FILTER");
}

Primitive ProbeMemfdNoexec() {
  const std::optional<std::string> value = ReadText("/proc/sys/vm/memfd_noexec");
  if (!value) {
    return Degraded("memfd_noexec", "no such setting", "commands cannot use memory files (memfd_create) at all",
                    "boot Linux 6.3 or newer");
  }
  return Ok("memfd_noexec", *value);
}

// The steps a root file system is made of, tried in a mount namespace of the child's own.
struct MountTrial {
  int tmpfs = EPERM;
  int id_map = EPERM;
  int overlay = EPERM;
};

// Where the trial's tmpfs is put; every Linux host has it, and only the child sees it covered.
constexpr const char* kTrialRoot = "/tmp";

// The layers of the image `host`: the host's own programs, with other owners.
Result<DetachedMount> MapHostPrograms() {
  CAISSON_TRY(const Fd space, MakeUserNamespace({{0, kFirstUid, 1}}, {{0, kFirstUid, 1}}));
  CAISSON_TRY(DetachedMount tree, CloneTree(AT_FDCWD, "/usr"));
  CAISSON_CHECK_OK(MapIds(tree, space));
  return tree;
}

int MakeTrialOverlay() {
  for (const char* folder : {"/tmp/lower", "/tmp/upper", "/tmp/work", "/tmp/merged"}) {
    if (mkdir(folder, 0755) != 0) return errno;
  }
  const Result<DetachedMount> lower = MapHostPrograms();
  if (!lower) return lower.error().errno_value();
  if (const int error = ErrnoOf(Attach(*lower, "/tmp/lower")); error != 0) return error;
  const char* options = "lowerdir=/tmp/lower,upperdir=/tmp/upper,workdir=/tmp/work";
  return mount("overlay", "/tmp/merged", "overlay", 0, options) == 0 ? 0 : errno;
}

int MakeTrialTmpfs() {
  if (unshare(CLONE_NEWNS) != 0) return errno;
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return errno;
  Result<FileSystem> tmpfs = FileSystem::Open("tmpfs");
  if (!tmpfs) return tmpfs.error().errno_value();
  const Result<DetachedMount> tree = tmpfs->Set("size", "1m").Mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  if (!tree) return tree.error().errno_value();
  return ErrnoOf(Attach(*tree, kTrialRoot));
}

int MakeTrialIdMap() {
  const Result<DetachedMount> tree = MapHostPrograms();
  return tree ? 0 : tree.error().errno_value();
}

void ProbeMounts(std::vector<Primitive>& list) {
  MountTrial trial;
  if (IsRoot()) {
    const auto after_tmpfs = [](int (*next)()) {
      return InChild([next] {
        const int error = MakeTrialTmpfs();
        return error != 0 ? error : next();
      });
    };
    trial.tmpfs = InChild(MakeTrialTmpfs);
    trial.id_map = InChild(MakeTrialIdMap);
    trial.overlay = after_tmpfs(MakeTrialOverlay);
  }
  list.push_back(FromTrial("mount_api_tmpfs", trial.tmpfs, kNewerKernel));
  list.push_back(FromTrial("id_mapped_mounts", trial.id_map, kNewerKernel));
  list.push_back(FromTrial("overlay_on_id_mapped_layers", trial.overlay,
                           "load the module (modprobe overlay) and boot Linux 6.1 or newer"));
}

Primitive ProbeUidRange() {
  const std::string text = ReadText("/etc/subuid").value_or("") + "\n" + ReadText("/etc/subgid").value_or("");
  if (!TakesCaissonIds(text)) return Ok("uid_range", "0x70000000 to 0x7fffffff is free");
  return Degraded("uid_range", "/etc/subuid or /etc/subgid gives away ids from 0x70000000 to 0x7fffffff",
                  "a user of this host may own the same ids as a sandbox", "move that range elsewhere");
}

Primitive ProbeCorePattern() {
  const std::string pattern = ReadText("/proc/sys/kernel/core_pattern").value_or("");
  if (!pattern.starts_with('|')) return Ok("core_pattern", pattern.empty() ? "none" : pattern);
  // A core size limit of exactly 1, which every command has, keeps the kernel from starting it. Source: core(5).
  return Ok("core_pattern", pattern + ", which no crash in a sandbox starts");
}

}  // namespace

std::string_view FindingName(Finding finding) {
  switch (finding) {
    case Finding::kOk:
      return "ok";
    case Finding::kDegraded:
      return "degraded";
    case Finding::kMissing:
      return "missing";
    case Finding::kUntested:
      return "untested";
  }
  return "missing";
}

std::vector<Primitive> ProbeHost() {
  std::vector<Primitive> list;
  list.push_back(ProbeRoot());
  ProbeSystemCalls(list);
  ProbeNamespaces(list);
  list.push_back(ProbeUserNamespaceLimit());
  ProbeCgroups(list);
  list.push_back(ProbeLandlock());
  list.push_back(ProbeSeccomp());
  list.push_back(ProbeMemfdNoexec());
  ProbeMounts(list);
  list.push_back(ProbeUidRange());
  list.push_back(ProbeCorePattern());
  return list;
}

bool CanMakeSandboxes(const std::vector<Primitive>& primitives) {
  for (const Primitive& primitive : primitives) {
    if (primitive.finding == Finding::kMissing || primitive.finding == Finding::kUntested) return false;
  }
  return true;
}

bool TakesCaissonIds(std::string_view subids) {
  constexpr std::uint64_t kFirst = kFirstUid;
  constexpr std::uint64_t kLast = kFirst + std::uint64_t{kUidsPerBlock} * kUidBlocks - 1;
  const auto number = [](std::string_view text) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  while (!subids.empty()) {
    const std::string_view line = subids.substr(0, subids.find('\n'));
    subids.remove_prefix(std::min(line.size() + 1, subids.size()));
    // "user:first:count"
    const std::size_t one = line.find(':');
    const std::size_t two = line.find(':', one + 1);
    if (one == std::string_view::npos || two == std::string_view::npos) continue;
    const std::uint64_t first = number(line.substr(one + 1, two - one - 1));
    const std::uint64_t count = number(line.substr(two + 1));
    if (count > 0 && first <= kLast && first + (count - 1) >= kFirst) return true;
  }
  return false;
}

std::string KernelRelease() {
  utsname name{};
  if (uname(&name) != 0) return "unknown";
  return std::string(name.release) + " " + name.machine;
}

}  // namespace caisson::os
