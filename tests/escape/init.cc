// Acts on process 1, the guest of a sandbox. None of them changes it. The control outside names a process of its own
// with `--process`, since the host's init is not ours and may be protected further.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdlib>

#include "caisson/os/fd.h"
#include "escape/attempt.h"
#include "escape/probe.h"

namespace caisson::escape {
namespace {

void* const kBadAddress = reinterpret_cast<void*>(1);

std::string TargetName(const Context& context) {
  const std::string* process = context.Find("process");
  return process == nullptr ? "1" : *process;
}

pid_t Target(const Context& context) {
  return static_cast<pid_t>(std::strtol(TargetName(context).c_str(), nullptr, 10));
}

std::string ProcPath(const Context& context, const char* name) { return "/proc/" + TargetName(context) + "/" + name; }

// Signal 0 takes the same permission check as SIGKILL.
Outcome SignalInit(const Context& context) { return FromReturn(::kill(Target(context), 0)); }

Outcome SignalInitByPidfd(const Context& context) {
  const os::Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, Target(context), 0)));
  if (!pidfd.valid()) return Refused(errno);
  return FromReturn(::syscall(SYS_pidfd_send_signal, pidfd.get(), 0, nullptr, 0));
}

// An address that is not zero is refused by the kernel (EIO) before anything is attached.
Outcome TraceInit(const Context& context) {
  return FromReturn(::ptrace(PTRACE_SEIZE, Target(context), kBadAddress, nullptr));
}

// EFAULT: the caller may read, but nothing is mapped there.
Outcome ReadInitMemory(const Context& context) {
  char byte = 0;
  iovec local{&byte, 1};
  iovec remote{kBadAddress, 1};
  return FromReturn(::process_vm_readv(Target(context), &local, 1, &remote, 1, 0));
}

// EBADF: the caller may take descriptors, but there is none of that number.
Outcome TakeInitFd(const Context& context) {
  const os::Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, Target(context), 0)));
  if (!pidfd.valid()) return Refused(errno);
  const os::Fd taken(static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd.get(), 0x7fffffff, 0)));
  return FromReturn(taken.get());
}

Outcome LimitInit(const Context& context) {
  rlimit64 limit{};
  return FromReturn(::prlimit64(Target(context), RLIMIT_NOFILE, nullptr, &limit));
}

// Sets the value that is already there.
Outcome ReniceInit(const Context& context) {
  errno = 0;
  const int nice = ::getpriority(PRIO_PROCESS, Target(context));
  if (errno != 0) return Refused(errno);
  return FromReturn(::setpriority(PRIO_PROCESS, Target(context), nice));
}

Outcome MoveInit(const Context& context) {
  cpu_set_t cpus;
  if (::sched_getaffinity(Target(context), sizeof(cpus), &cpus) != 0) return Refused(errno);
  return FromReturn(::sched_setaffinity(Target(context), sizeof(cpus), &cpus));
}

// A probe that opens a file of the process.
Probe Opens(std::string name, std::string catalogue, const char* file, int flags) {
  return {std::move(name), std::move(catalogue), std::string("open ") + file + " of process 1",
          [file, flags](const Context& context) { return TryOpen(ProcPath(context, file), flags); }};
}

Probe Follows(std::string name, const char* file) {
  return {std::move(name), "B8", std::string("follow the link ") + file + " of process 1",
          [file](const Context& context) {
            char target[4096];
            return FromReturn(::readlink(ProcPath(context, file).c_str(), target, sizeof(target)));
          }};
}

}  // namespace

Probes InitProbes() {
  return {
      {"init_kill", "D8", "send a signal to process 1", SignalInit},
      {"init_pidfd_signal", "D8", "the same through a pidfd", SignalInitByPidfd},
      {"init_ptrace", "D10", "trace process 1", TraceInit},
      {"init_vm_read", "D10", "read the memory of process 1", ReadInitMemory},
      {"init_pidfd_getfd", "C5", "take a descriptor of process 1", TakeInitFd},
      {"init_prlimit", "D8", "read the resource limits of process 1", LimitInit},
      {"init_setpriority", "D8", "set the priority of process 1", ReniceInit},
      {"init_setaffinity", "D8", "set the CPU affinity of process 1", MoveInit},
      Opens("init_mem", "D10", "mem", O_RDWR),
      Opens("init_environ", "B3", "environ", O_RDONLY),
      Opens("init_maps", "B3", "maps", O_RDONLY),
      Opens("init_fd", "C5", "fd/0", O_RDONLY),
      Opens("init_map_files", "B8", "map_files", O_RDONLY | O_DIRECTORY),
      Opens("init_auxv", "B3", "auxv", O_RDONLY),
      Opens("init_io", "B3", "io", O_RDONLY),
      Opens("init_stack", "B3", "stack", O_RDONLY),
      Opens("init_syscall", "B3", "syscall", O_RDONLY),
      Opens("init_name", "D8", "comm", O_WRONLY),
      Opens("init_oom_score", "D8", "oom_score_adj", O_WRONLY),
      Opens("init_clear_refs", "D8", "clear_refs", O_WRONLY),
      Opens("init_id_map", "D8", "uid_map", O_WRONLY),
      Opens("init_exe_write", "C3", "exe", O_WRONLY),
      Follows("init_root", "root"),
      Follows("init_cwd", "cwd"),
      Follows("init_net_namespace", "ns/net"),
  };
}

}  // namespace caisson::escape
