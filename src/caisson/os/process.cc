#include "caisson/os/process.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace caisson::os {

Result<PidFd> PidFd::Open(pid_t pid) {
  Fd fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!fd.valid()) return Fail(Error::FromErrno(errno, "cannot watch a process"));
  return PidFd(std::move(fd));
}

Status PidFd::Signal(int signal) const {
  if (syscall(SYS_pidfd_send_signal, fd_.get(), signal, nullptr, 0) != 0 && errno != ESRCH) {
    return Fail(Error::FromErrno(errno, "cannot signal a process"));
  }
  return {};
}

bool PidFd::Ended(const Deadline& deadline) const {
  while (true) {
    pollfd entry{fd_.get(), POLLIN, 0};
    const int n = poll(&entry, 1, deadline.PollTimeout());
    if (n > 0) return true;
    if (n == 0 || errno != EINTR) return false;
  }
}

void PidFd::Reap() const {
  siginfo_t info{};
  while (waitid(P_PIDFD, static_cast<id_t>(fd_.get()), &info, WEXITED) != 0 && errno == EINTR) {
  }
}

}  // namespace caisson::os
