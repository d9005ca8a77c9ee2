#include "caisson/client/connect.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "caisson/os/poll.h"

namespace caisson::client {
namespace {

constexpr const char* kDetail = "connection";

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

template <typename Socket>
Address AddressOf(const Socket& socket) {
  Address address;
  std::memcpy(&address.storage, &socket, sizeof socket);
  address.length = sizeof socket;
  return address;
}

Address AddressOf(const Endpoint& endpoint) {
  if (endpoint.kind == Endpoint::Kind::kUnix) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    endpoint.path.copy(name.sun_path, sizeof name.sun_path - 1);
    return AddressOf(name);
  }
  sockaddr_in four{};
  if (inet_pton(AF_INET, endpoint.address.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(endpoint.port);
    return AddressOf(four);
  }
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(endpoint.port);
  (void)inet_pton(AF_INET6, endpoint.address.c_str(), &six.sin6_addr);
  return AddressOf(six);
}

bool HasDetail(const Error& error, std::string_view value) {
  return std::any_of(error.details().begin(), error.details().end(),
                     [&](const auto& detail) { return detail.first == kDetail && detail.second == value; });
}

// The errno with which a connection that is being made has ended.
Result<int> AwaitConnected(int socket, const Endpoint& endpoint, const Deadline& deadline) {
  std::array<pollfd, 1> entries = {pollfd{socket, POLLOUT, 0}};
  if (!os::Poll(entries, deadline.PollTimeout()) || entries[0].revents == 0) {
    return Fail(Error(Code::kDeadlineExceeded, "connecting to " + endpoint.text() + " took too long").Retryable());
  }
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  return error;
}

}  // namespace

Error RefusedError(const Endpoint& endpoint, int errno_value) {
  if (errno_value == EACCES || errno_value == EPERM) {
    return Error::FromErrno(errno_value, "cannot connect to " + endpoint.text()).Detail(kDetail, "refused");
  }
  return Error(Code::kUnavailable, "no node answers at " + endpoint.text())
      .Because(strerror(errno_value))
      .Remedy("start one with `caisson serve`, or say with --host where it is")
      .Detail(kDetail, "refused")
      .Retryable();
}

Error LostError(const Endpoint& endpoint, std::string cause) {
  return Error(Code::kUnavailable, "the connection to " + endpoint.text() + " was lost")
      .Because(std::move(cause))
      .Remedy("see whether the node still runs, then try again")
      .Detail(kDetail, "lost")
      .Retryable();
}

bool IsRefused(const Error& error) { return HasDetail(error, "refused"); }
bool IsLost(const Error& error) { return HasDetail(error, "lost"); }

Result<os::Fd> Connect(const Endpoint& endpoint, const Deadline& deadline) {
  const Address address = AddressOf(endpoint);
  while (true) {
    os::Fd fd(socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.valid()) return Fail(Error::FromErrno(errno, "cannot make a socket"));
    int error = 0;
    // The cast is how connect(2) is called.
    if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.length) != 0) error = errno;
    if (error == EINPROGRESS || error == EINTR) {
      CAISSON_TRY(error, AwaitConnected(fd.get(), endpoint, deadline));
    }
    if (error == 0) return fd;
    // A Unix socket whose queue is full says so at once, and nothing tells when there is room.
    if (error != EAGAIN || deadline.Passed()) return Fail(RefusedError(endpoint, error));
    (void)os::Poll({}, std::min(deadline.PollTimeout(), 20));
  }
}

}  // namespace caisson::client
