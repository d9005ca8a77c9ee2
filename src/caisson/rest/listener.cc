#include "caisson/rest/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "caisson/base/utf8.h"

namespace caisson::rest {
namespace {

constexpr int kBacklog = 4096;  // the kernel takes the least of it and net.core.somaxconn

sockaddr* AddressOf(void* address) { return static_cast<sockaddr*>(address); }

Result<os::Fd> NewSocket(int family) {
  os::Fd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return Fail(Error::FromErrno(errno, "cannot make a socket"));
  return socket;
}

Result<sockaddr_un> UnixAddress(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path || path.find('\0') != std::string::npos) {
    return Fail(Error(Code::kInvalidArgument, "the path " + Quoted(path) + " cannot be a socket's")
                    .Because("it must have 1 to " + std::to_string(sizeof address.sun_path - 1) + " bytes")
                    .Remedy("choose a shorter path"));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// Errors: what is at the path must stay.
Status CheckPlace(const std::string& path, sockaddr_un& address) {
  struct stat found{};
  if (lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return {};
    return Fail(Error::FromErrno(errno, "cannot look at " + Quoted(path)));
  }
  if (!S_ISSOCK(found.st_mode)) {
    return Fail(Error(Code::kAlreadyExists, "there is something else than a socket at " + Quoted(path))
                    .Remedy("choose another path, or remove it"));
  }
  CAISSON_TRY(const os::Fd probe, NewSocket(AF_UNIX));
  if (connect(probe.get(), AddressOf(&address), sizeof address) == 0 || errno == EAGAIN) {
    return Fail(
        Error(Code::kConflict, "another server answers at " + Quoted(path)).Remedy("stop it, or choose another path"));
  }
  if (errno == ECONNREFUSED || errno == ENOENT) return {};
  return Fail(Error::FromErrno(errno, "cannot find out who has the socket " + Quoted(path)));
}

// The port when the address is one of the loopback interface, else 0.
std::uint16_t LoopbackPort(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &address, sizeof in);
    return (ntohl(in.sin_addr.s_addr) >> 24U) == 127 ? ntohs(in.sin_port) : 0;
  }
  sockaddr_in6 in{};
  std::memcpy(&in, &address, sizeof in);
  return IN6_IS_ADDR_LOOPBACK(&in.sin6_addr) != 0 ? ntohs(in.sin6_port) : 0;
}

}  // namespace

Result<Listener> ListenUnix(const std::string& path) {
  CAISSON_TRY(sockaddr_un address, UnixAddress(path));
  CAISSON_CHECK_OK(CheckPlace(path, address));
  CAISSON_TRY(os::Fd socket, NewSocket(AF_UNIX));
  // bind(2) gives the file the mode of the socket's own inode, less the umask: never more than this.
  if (fchmod(socket.get(), S_IRUSR | S_IWUSR) != 0) return Fail(Error::FromErrno(errno, "cannot set a socket's mode"));
  // It appears at its place by a rename, so that there is no moment without one, and listens already.
  const std::string made = path + "~";
  auto made_address = UnixAddress(made);
  const bool renames = made_address.has_value();
  if (renames) CAISSON_CHECK_OK(CheckPlace(made, *made_address));
  // Nobody answers there, as was just seen.
  (void)unlink(renames ? made.c_str() : path.c_str());
  sockaddr_un& place = renames ? *made_address : address;
  if (bind(socket.get(), AddressOf(&place), sizeof place) != 0 || listen(socket.get(), kBacklog) != 0) {
    return Fail(Error::FromErrno(errno, "cannot listen at " + Quoted(path)));
  }
  if (renames && rename(made.c_str(), path.c_str()) != 0) {
    const int errno_value = errno;
    (void)unlink(made.c_str());
    return Fail(Error::FromErrno(errno_value, "cannot put a socket at " + Quoted(path)));
  }
  struct stat file{};
  if (lstat(path.c_str(), &file) != 0) return Fail(Error::FromErrno(errno, "cannot look at " + Quoted(path)));
  return Listener{std::move(socket), Door::Kind::kUnix, 0, path, file.st_dev, file.st_ino};
}

Result<Listener> ListenLoopback(std::uint16_t port) {
  CAISSON_TRY(os::Fd socket, NewSocket(AF_INET));
  const int on = 1;
  (void)setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  if (bind(socket.get(), AddressOf(&address), sizeof address) != 0 || listen(socket.get(), kBacklog) != 0) {
    return Fail(Error::FromErrno(errno, "cannot listen on 127.0.0.1:" + std::to_string(port)));
  }
  return AdoptListener(std::move(socket));
}

Result<Listener> AdoptListener(os::Fd socket) {
  const Error refused =
      Error(Code::kInvalidArgument, "a socket that was handed over is not fit to listen on")
          .Because("it must be a listening stream socket: a Unix socket, or TCP on the loopback interface");
  int listening = 0;
  socklen_t length = sizeof listening;
  if (getsockopt(socket.get(), SOL_SOCKET, SO_ACCEPTCONN, &listening, &length) != 0 || listening == 0)
    return Fail(refused);
  int type = 0;
  length = sizeof type;
  if (getsockopt(socket.get(), SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_STREAM) return Fail(refused);
  sockaddr_storage address{};
  length = sizeof address;
  if (getsockname(socket.get(), AddressOf(&address), &length) != 0) return Fail(refused);
  if (fcntl(socket.get(), F_SETFL, O_NONBLOCK) != 0 || fcntl(socket.get(), F_SETFD, FD_CLOEXEC) != 0) {
    return Fail(Error::FromErrno(errno, "cannot take over a socket"));
  }
  if (address.ss_family == AF_UNIX) return Listener{std::move(socket), Door::Kind::kUnix, 0, {}, 0, 0};
  if (address.ss_family != AF_INET && address.ss_family != AF_INET6) return Fail(refused);
  const std::uint16_t port = LoopbackPort(address);
  if (port == 0) return Fail(refused);
  return Listener{std::move(socket), Door::Kind::kTcp, port, {}, 0, 0};
}

void RemoveSocketFile(const Listener& listener) {
  struct stat file{};
  if (listener.path.empty() || lstat(listener.path.c_str(), &file) != 0) return;
  if (file.st_dev == listener.device && file.st_ino == listener.inode) (void)unlink(listener.path.c_str());
}

Result<Door> DoorOf(const Listener& listener, int connection) {
  if (listener.kind == Door::Kind::kTcp) return Door{listener.kind, {}, listener.port};
  ucred peer{};
  socklen_t length = sizeof peer;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) {
    return Fail(Error::FromErrno(errno, "cannot find out who a connection is from"));
  }
  return Door{listener.kind, "uid " + std::to_string(peer.uid), 0};
}

}  // namespace caisson::rest
