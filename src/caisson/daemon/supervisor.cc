#include "caisson/daemon/supervisor.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <utility>

#include "caisson/base/units.h"

namespace caisson::daemon {
namespace {

constexpr int kFirstListener = 3;
constexpr std::uint64_t kMostListeners = 16;

std::string Take(const char* name) {
  const char* const value = getenv(name);
  std::string taken = value == nullptr ? "" : value;
  unsetenv(name);
  return taken;
}

}  // namespace

std::vector<os::Fd> TakeListeners() {
  const std::string pid = Take("LISTEN_PID");
  const std::string count = Take("LISTEN_FDS");
  Take("LISTEN_FDNAMES");
  std::vector<os::Fd> listeners;
  const auto number = ParseCount(count, "LISTEN_FDS", 1, kMostListeners);
  if (pid != std::to_string(getpid()) || !number) return listeners;
  for (int fd = kFirstListener; fd < kFirstListener + static_cast<int>(*number); ++fd) {
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) == 0) listeners.emplace_back(fd);
  }
  return listeners;
}

std::string TakeNotifySocket() { return Take("NOTIFY_SOCKET"); }

void Notify(const std::string& notify_socket, const std::string& state) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (notify_socket.empty() || notify_socket.size() >= sizeof address.sun_path) return;
  notify_socket.copy(address.sun_path, sizeof address.sun_path);
  // An '@' stands for the zero byte of a name in the abstract namespace.
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const os::Fd socket_fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + notify_socket.size());
  (void)sendto(socket_fd.get(), state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
               size);
}

}  // namespace caisson::daemon
