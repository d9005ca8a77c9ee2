#include "caisson/os/namespace.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "caisson/os/write_child.h"

namespace caisson::os {
namespace {

Status WriteProcFile(const std::string& path, const std::string& value) {
  const Fd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.valid()) return Fail(Error::FromErrno(errno, "cannot open " + path));
  const int error = WriteWhole(file.get(), value.data(), value.size());
  if (error != 0) return Fail(Error::FromErrno(error, "cannot write " + path));
  return {};
}

// A process that does nothing in a new user namespace until it is killed.
pid_t CloneIntoUserNamespace() {
  const long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid != 0) return static_cast<pid_t>(pid);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  close_range(0, ~0U, 0);  // nobody shall wait for the end of a connection that is open here
  while (true) pause();
}

Result<Fd> MapAndOpen(pid_t pid, const std::vector<IdRange>& uids, const std::vector<IdRange>& gids) {
  const std::string process = "/proc/" + std::to_string(pid);
  CAISSON_CHECK_OK(WriteProcFile(process + "/uid_map", FormatIdMap(uids)));
  CAISSON_CHECK_OK(WriteProcFile(process + "/gid_map", FormatIdMap(gids)));
  Fd space(open((process + "/ns/user").c_str(), O_RDONLY | O_CLOEXEC));
  if (!space.valid()) return Fail(Error::FromErrno(errno, "cannot open a user namespace"));
  return space;
}

Status RaiseLoopback() {
  const Fd control(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!control.valid()) return Fail(Error::FromErrno(errno, "cannot make a socket"));
  ifreq request{};
  std::strncpy(request.ifr_name, "lo", sizeof request.ifr_name - 1);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (ioctl(control.get(), SIOCSIFFLAGS, &request) != 0) return Fail(Error::FromErrno(errno, "cannot raise loopback"));
  return {};
}

}  // namespace

std::string FormatIdMap(const std::vector<IdRange>& ranges) {
  std::string text;
  for (const IdRange& range : ranges) {
    text +=
        std::to_string(range.inside) + " " + std::to_string(range.outside) + " " + std::to_string(range.count) + "\n";
  }
  return text;
}

Result<Fd> MakeUserNamespace(const std::vector<IdRange>& uids, const std::vector<IdRange>& gids) {
  const pid_t pid = CloneIntoUserNamespace();
  if (pid < 0) {
    return Fail(Error::FromErrno(errno, "cannot make a user namespace")
                    .Remedy("allow user namespaces: sysctl user.max_user_namespaces=65536"));
  }
  Result<Fd> space = MapAndOpen(pid, uids, gids);
  // One that cannot be killed is not waited for: it ends with this process.
  if (kill(pid, SIGKILL) != 0) return Fail(Error::FromErrno(errno, "cannot end the holder of a user namespace"));
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return space;
}

Result<Fd> EnterNewNetworkNamespace() {
  if (unshare(CLONE_NEWNET) != 0) {
    return Fail(Error::FromErrno(errno, "cannot make a network namespace")
                    .Remedy("allow network namespaces: sysctl user.max_net_namespaces=65536"));
  }
  CAISSON_CHECK_OK(RaiseLoopback());
  CAISSON_CHECK_OK(WriteProcFile("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0"));
  CAISSON_CHECK_OK(WriteProcFile("/proc/sys/net/ipv4/tcp_fastopen", "0"));
  CAISSON_CHECK_OK(WriteProcFile("/proc/sys/net/ipv4/ping_group_range", "1 0"));
  return OpenNamespace("net");
}

Result<Fd> OpenNamespace(const char* kind) {
  Fd space(open((std::string("/proc/self/ns/") + kind).c_str(), O_RDONLY | O_CLOEXEC));
  if (!space.valid()) return Fail(Error::FromErrno(errno, std::string("cannot open the namespace ") + kind));
  return space;
}

Status LeaveChroot() {
  // Entering a mount namespace, also the own one, sets the root and the working directory to its root. Source:
  // setns(2).
  CAISSON_TRY(const Fd mounts, OpenNamespace("mnt"));
  return EnterNamespace(mounts);
}

Status EnterNamespace(const Fd& space) {
  if (setns(space.get(), 0) != 0) return Fail(Error::FromErrno(errno, "cannot enter a namespace"));
  return {};
}

}  // namespace caisson::os
