#include "fault/fault_calls.h"

#include <string.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <map>

#include "caisson/plan/syscall_table.h"

namespace caisson::fault {
namespace {

const std::map<int, std::vector<int>>& Errors() {
  static const std::map<int, std::vector<int>> errors = {
      {SYS_access, {EACCES}},
      {SYS_capget, {EPERM}},
      {SYS_capset, {EPERM}},
      {SYS_chdir, {EACCES, ENOENT}},
      {SYS_clone, {EAGAIN, ENOMEM}},
      {SYS_clone3, {EAGAIN, ENOSPC, EPERM}},
      {SYS_close_range, {EMFILE, ENOSYS}},
      {SYS_dup, {EMFILE}},
      {SYS_dup2, {EMFILE}},
      {SYS_dup3, {EMFILE}},
      {SYS_execve, {ENOMEM, EACCES}},
      {SYS_faccessat, {EACCES}},
      {SYS_faccessat2, {EACCES}},
      {SYS_fallocate, {ENOSPC}},
      {SYS_fanotify_init, {EMFILE, EPERM}},
      {SYS_fanotify_mark, {ENOSPC, ENODEV}},
      {SYS_fchmod, {EPERM, EROFS}},
      {SYS_fchmodat, {EPERM, EROFS}},
      {SYS_fchown, {EPERM}},
      {SYS_fchownat, {EPERM}},
      {SYS_fcntl, {EMFILE, EAGAIN}},
      {SYS_flock, {ENOLCK, EWOULDBLOCK}},
      {SYS_fsconfig, {EINVAL, ENOMEM}},
      {SYS_fsetxattr, {ENOSPC, EPERM}},
      {SYS_fsmount, {EMFILE, EPERM}},
      {SYS_fsopen, {EMFILE, EPERM}},
      {SYS_fstat, {ENOMEM}},
      {SYS_fstatfs, {EIO}},
      {SYS_ftruncate, {ENOSPC}},
      {SYS_getdents64, {ENOMEM, EIO}},
      {SYS_getrandom, {EAGAIN, ENOSYS}},
      {SYS_ioctl, {EPERM, ENOMEM}},
      {SYS_kill, {EPERM}},
      {SYS_landlock_add_rule, {ENOMEM}},
      {SYS_landlock_create_ruleset, {ENOMEM, EOPNOTSUPP}},
      {SYS_landlock_restrict_self, {EPERM, ENOMEM}},
      {SYS_lseek, {EIO}},
      {SYS_memfd_create, {EMFILE, ENOMEM}},
      {SYS_mkdir, {ENOSPC, EACCES}},
      {SYS_mkdirat, {ENOSPC, EACCES}},
      {SYS_mmap, {ENOMEM}},
      {SYS_mount, {EPERM, ENOMEM}},
      {SYS_mount_setattr, {EPERM, EINVAL}},
      {SYS_move_mount, {EPERM, ENOSPC}},
      {SYS_mprotect, {ENOMEM}},
      {SYS_mremap, {ENOMEM}},
      {SYS_newfstatat, {ENOMEM, EACCES}},
      {SYS_open_tree, {EMFILE, EPERM}},
      {SYS_openat, {EMFILE, EACCES}},
      {SYS_openat2, {EMFILE, EACCES}},
      {SYS_pidfd_open, {EMFILE}},
      {SYS_pidfd_send_signal, {EPERM}},
      {SYS_pipe2, {EMFILE}},
      {SYS_pivot_root, {EPERM}},
      {SYS_poll, {ENOMEM}},
      {SYS_ppoll, {ENOMEM}},
      {SYS_prctl, {EPERM, EINVAL}},
      {SYS_pread64, {EIO}},
      {SYS_prlimit64, {EPERM}},
      {SYS_pwrite64, {ENOSPC}},
      {SYS_read, {EIO, ENOMEM}},
      {SYS_readlink, {EACCES}},
      {SYS_readlinkat, {EACCES}},
      {SYS_recvfrom, {ENOMEM}},
      {SYS_recvmsg, {ENOMEM}},
      {SYS_renameat, {ENOSPC}},
      {SYS_renameat2, {ENOSPC}},
      {SYS_rmdir, {EBUSY}},
      {SYS_seccomp, {ENOMEM, EACCES}},
      {SYS_sendmsg, {ENOBUFS, EMFILE}},
      {SYS_sendto, {ENOBUFS}},
      {SYS_setgroups, {EPERM}},
      {SYS_sethostname, {EPERM}},
      {SYS_setns, {EPERM, ENOMEM}},
      {SYS_setresgid, {EPERM}},
      {SYS_setresuid, {EAGAIN, EPERM}},
      {SYS_setsid, {EPERM}},
      {SYS_signalfd4, {EMFILE}},
      {SYS_socket, {EMFILE}},
      {SYS_socketpair, {EMFILE}},
      {SYS_statfs, {EIO}},
      {SYS_statx, {ENOMEM, EACCES}},
      {SYS_symlinkat, {ENOSPC}},
      {SYS_sync, {EIO}},
      {SYS_syncfs, {EIO}},
      {SYS_umount2, {EBUSY, EPERM}},
      {SYS_unlink, {EBUSY}},
      {SYS_unlinkat, {EBUSY, EIO}},
      {SYS_unshare, {ENOSPC, EPERM}},
      {SYS_utimensat, {EPERM}},
      // ECHILD would be a lie: they wait for a child that is there.
      {SYS_wait4, {}},
      {SYS_waitid, {}},
      {SYS_write, {ENOSPC, EIO}},
      {SYS_writev, {ENOSPC}},
  };
  return errors;
}

}  // namespace

std::string CallName(int number) {
  const plan::Syscall* const call = number < 0 ? nullptr : plan::FindSyscall(static_cast<std::uint32_t>(number));
  return call == nullptr ? std::to_string(number) : std::string(call->name);
}

std::string ErrorName(int error) {
  const char* const name = strerrorname_np(error);
  return name == nullptr ? std::to_string(error) : name;
}

int ErrorOf(std::string_view name) {
  for (int error = 1; error < 134; ++error) {
    if (ErrorName(error) == name) return error;
  }
  return 0;
}

std::vector<int> ErrorsOf(int number) {
  const auto found = Errors().find(number);
  return found == Errors().end() ? std::vector<int>{EPERM} : found->second;
}

bool CanBeInterrupted(int number) {
  constexpr int kSlow[] = {SYS_read,  SYS_write,   SYS_writev,   SYS_poll,    SYS_ppoll,  SYS_wait4,    SYS_waitid,
                           SYS_flock, SYS_recvmsg, SYS_recvfrom, SYS_sendmsg, SYS_sendto, SYS_fallocate};
  return std::find(std::begin(kSlow), std::end(kSlow), number) != std::end(kSlow);
}

const std::vector<Exception>& Exceptions() {
  static const std::vector<Exception> exceptions = {
      {"", "close", "the kernel closes the descriptor whatever it answers; one that stays open is no error of a host"},
      {"", "brk",
       "answers with the old end of the heap, never with an errno; the C library then uses mmap, which is failed"},
      {"", "munmap", "cannot fail for a mapping that is there; one that stays is memory and no more"},
      {"", "exit", "does not return"},
      {"", "exit_group", "does not return"},
      {"", "rt_sigreturn", "does not return"},
      {"", "restart_syscall", "made by the kernel"},
      {"", "clock_gettime", "cannot fail for a clock that exists"},
      {"", "futex", "of the C library's locks; there is one thread, so none waits"},
      {"", "getpid", "cannot fail"},
      {"", "gettid", "cannot fail"},
      {"", "getuid", "cannot fail"},
      {"", "geteuid", "cannot fail"},
      {"", "getgid", "cannot fail"},
      {"", "getegid", "cannot fail"},
      {"", "rt_sigprocmask", "cannot fail for the arguments that the C library gives"},
      {"", "rt_sigaction", "cannot fail for a signal that exists"},
      {"", "umask", "cannot fail"},
      {"", "arch_prctl", "of the C library's start; cannot fail for an address of the program's own"},
      {"", "set_tid_address", "cannot fail"},
      {"", "set_robust_list", "cannot fail for the size that the C library gives"},
  };
  return exceptions;
}

std::string_view WhyNotFailed(std::string_view role, int number) {
  const std::string name = CallName(number);
  for (const Exception& exception : Exceptions()) {
    if (exception.call == name && (exception.role.empty() || exception.role == role)) return exception.why;
  }
  return {};
}

}  // namespace caisson::fault
