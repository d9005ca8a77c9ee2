#include "caisson/backend/spawn_child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "caisson/base/weakened.h"

// Runs between clone and exec: system calls only.

namespace caisson::backend {

void RunSpawnChild(void* argument) {
  const SpawnPlan& plan = *static_cast<const SpawnPlan*>(argument);
  for (int signal_number = 1; signal_number < NSIG; ++signal_number) signal(signal_number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // The caller's terminal is none of the launcher's business.
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < 2; ++fd) {
    if (dup2(null, fd) < 0) _exit(127);
  }
  unsigned next = 3;
  for (const int fd : plan.fds) {
    if (fd >= 0 && dup2(fd, static_cast<int>(next++)) < 0) _exit(127);
  }
  // What the caller has open is none of its business either.
  if (!Weakened("launcher_descriptors", "close_range") && syscall(SYS_close_range, next, ~0U, 0U) != 0) _exit(127);
  char* envp[] = {nullptr};
  execve(plan.path, plan.argv, envp);
  _exit(127);
}

}  // namespace caisson::backend
