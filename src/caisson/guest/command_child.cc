#include "caisson/guest/command_child.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "caisson/base/weakened.h"
#include "caisson/os/write_child.h"

// Runs between clone and exec, in the guest's memory: system calls only.

namespace caisson::guest {
namespace {

constexpr std::size_t kMaxPath = 4096;

int Errno(long result) { return result < 0 ? errno : 0; }

int ResetSignals() {
  // Handlers were cleared by the clone; what is left is the mask.
  sigset_t none;
  sigemptyset(&none);
  return Errno(sigprocmask(SIG_SETMASK, &none, nullptr));
}

int ConnectStdio(const ChildPlan& plan) {
  if (setsid() < 0) return errno;
  if (plan.has_terminal && ioctl(plan.stdio[0], TIOCSCTTY, 0) != 0) return errno;
  for (int fd = 0; fd < 3; ++fd) {
    if (dup2(plan.stdio[fd], fd) < 0) return errno;
  }
  if (Weakened("close_range")) return 0;
  return Errno(syscall(SYS_close_range, 3U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */));
}

// Raises what a memory shortage does to this process over the guest, which must stay. The file is the process's own
// only while it is dumpable; the guest, whose memory this may be, sleeps meanwhile, and no command has its uid.
int OfferToOomKiller() {
  if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) return errno;
  const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return errno;
  if (file < 0) return errno;
  const int error = os::WriteWhole(file, "500", 3);
  close(file);
  return error;
}

int Limit(int resource, rlim_t soft, rlim_t hard) {
  rlimit now{};
  if (getrlimit(static_cast<__rlimit_resource_t>(resource), &now) != 0) return errno;
  // Never above what the host allows: raising a hard limit takes a right nobody here has.
  const rlimit wanted{soft < now.rlim_max ? soft : now.rlim_max, hard < now.rlim_max ? hard : now.rlim_max};
  return Errno(setrlimit(static_cast<__rlimit_resource_t>(resource), &wanted));
}

int LimitResources(const ChildPlan& plan) {
  constexpr rlim_t kStack = 8U << 20U;
  constexpr rlim_t kCore = Weakened("core_limit") ? RLIM_INFINITY : 1;
  const struct {
    int resource;
    rlim_t soft;
    rlim_t hard;
  } limits[] = {
      // Exactly 1: with a piped core_pattern 0 does not stop the host's core helper, 1 does. Source: core(5).
      {RLIMIT_CORE, kCore, kCore},
      {RLIMIT_NOFILE, 1024, 65536},
      {RLIMIT_NPROC, 8192, 8192},
      {RLIMIT_FSIZE, plan.file_size_limit, plan.file_size_limit},
      {RLIMIT_MEMLOCK, 64U << 10U, 64U << 10U},
      {RLIMIT_MSGQUEUE, 0, 0},
      {RLIMIT_SIGPENDING, 1024, 1024},
      {RLIMIT_STACK, kStack, RLIM_INFINITY},
      {RLIMIT_RTPRIO, 0, 0},
      {RLIMIT_NICE, 0, 0},
  };
  for (const auto& limit : limits) {
    if (const int error = Limit(limit.resource, limit.soft, limit.hard); error != 0) return error;
  }
  return 0;
}

int BecomeUser(const ChildPlan& plan) {
  umask(0022);
  if (syscall(SYS_setgroups, 0, nullptr) != 0) return errno;
  // Raw calls: the C library's would try to change every thread of the guest.
  if (syscall(SYS_setresgid, plan.id, plan.id, plan.id) != 0) return errno;
  if (syscall(SYS_setresuid, plan.id, plan.id, plan.id) != 0) return errno;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  return Errno(syscall(SYS_capset, &header, none));
}

int RestrictFiles(const ChildPlan& plan) {
  if (Weakened("landlock") || plan.landlock == ChildPlan::kIsUnderRules) return 0;
  return Errno(syscall(SYS_landlock_restrict_self, plan.landlock, 0));
}

int RestrictCalls(const ChildPlan& plan) {
  if (Weakened("command_filter")) return 0;
  return Errno(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &plan.filter));
}

bool HasSlash(const char* name) {
  for (; *name != '\0'; ++name) {
    if (*name == '/') return true;
  }
  return false;
}

// directory + "/" + name into `buffer`; false when it does not fit. An empty directory is the current one.
bool Join(const char* directory, std::size_t length, const char* name, char (&buffer)[kMaxPath]) {
  std::size_t used = 0;
  for (; used < length && used < kMaxPath - 1; ++used) buffer[used] = directory[used];
  if (length > 0 && used < kMaxPath - 1) buffer[used++] = '/';
  for (; *name != '\0' && used < kMaxPath - 1; ++name) buffer[used++] = *name;
  buffer[used] = '\0';
  return *name == '\0' && used < kMaxPath - 1;
}

// A folder is no program, though the kernel says only EACCES.
bool IsFolder(const char* path) {
  struct stat info{};
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

// As execvp(3) looks: the first entry of the path that can be executed; a refusal is remembered over a mere absence.
int Execute(const ChildPlan& plan) {
  const char* name = plan.argv[0];
  if (*name == '\0') return ENOENT;
  if (HasSlash(name)) {
    execve(name, plan.argv, plan.envp);
    return errno;
  }
  int error = ENOENT;
  for (const char* entry = plan.path; entry != nullptr;) {
    std::size_t length = 0;
    while (entry[length] != '\0' && entry[length] != ':') ++length;
    char candidate[kMaxPath];
    if (Join(entry, length, name, candidate)) {
      execve(candidate, plan.argv, plan.envp);
      if (errno == EACCES && !IsFolder(candidate)) {
        error = EACCES;
      } else if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) {
        return errno;
      }
    }
    entry = entry[length] == ':' ? entry + length + 1 : nullptr;
  }
  return error;
}

bool Step(ChildPlan& plan, const char* step, int error) {
  if (error == 0) return true;
  plan.failed_step = step;
  plan.error = error;
  return false;
}

}  // namespace

bool Confine(ChildPlan& plan) {
  return Step(plan, "cgroup", os::JoinCgroups(plan.tasks)) &&  // before anything of it can cost something
         Step(plan, "signals", ResetSignals()) &&              //
         Step(plan, "stdio", ConnectStdio(plan)) &&            // its own session, three descriptors
         Step(plan, "oom_score", OfferToOomKiller()) &&        // while /proc/self is still ours to write
         Step(plan, "limits", LimitResources(plan)) &&         //
         Step(plan, "user", BecomeUser(plan)) &&               // no group, no capability
         Step(plan, "chdir", Errno(chdir(plan.cwd))) &&        // with the command's rights, not the guest's
         Step(plan, "landlock", RestrictFiles(plan)) &&        //
         Step(plan, "seccomp", RestrictCalls(plan));
}

void RunCommandChild(void* argument) {
  ChildPlan& plan = *static_cast<ChildPlan*>(argument);
  if (Confine(plan)) Step(plan, "exec", Execute(plan));
  _exit(127);
}

}  // namespace caisson::guest
