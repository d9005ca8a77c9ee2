#include "caisson/os/socket.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace caisson::os {
namespace {

constexpr std::size_t kControlSpace = CMSG_SPACE(kMaxMessageFds * sizeof(int));

Error PeerGone() { return {Code::kUnavailable, "the peer closed the connection"}; }

// One recvmsg; appends the descriptors that came. Returns the byte count, 0 at end of stream.
Result<std::size_t> ReceiveSome(int socket, std::span<char> buffer, std::vector<Fd>& fds) {
  alignas(cmsghdr) std::array<char, kControlSpace> control{};
  iovec vec{buffer.data(), buffer.size()};
  msghdr header{};
  header.msg_iov = &vec;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t n = 0;
  do {
    n = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
    // ECONNRESET, once: the peer went without having read all. What it had sent is still to be read.
  } while (n < 0 && (errno == EINTR || errno == ECONNRESET));
  if (n < 0) return Fail(Error::FromErrno(errno, "cannot receive from a socket"));
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      fds.emplace_back(fd);
    }
  }
  if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return Fail(Error(Code::kInternal, "a message was larger than the protocol allows"));
  }
  return static_cast<std::size_t>(n);
}

// One sendmsg with these descriptors. Returns how many bytes of `data` went.
Result<std::size_t> SendSome(int socket, std::string_view data, std::span<const int> fds, int flags) {
  if (fds.size() > kMaxMessageFds) return Fail(Error(Code::kInternal, "too many descriptors in one message"));
  alignas(cmsghdr) std::array<char, kControlSpace> control{};
  iovec vec{const_cast<char*>(data.data()), data.size()};
  msghdr header{};
  header.msg_iov = &vec;
  header.msg_iovlen = 1;
  if (!fds.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(part), fds.data(), fds.size_bytes());
  }
  ssize_t n = 0;
  do {
    n = sendmsg(socket, &header, MSG_NOSIGNAL | flags);
  } while (n < 0 && errno == EINTR);
  if (n < 0 && (errno == EPIPE || errno == ECONNRESET)) return Fail(PeerGone());
  if (n < 0) return Fail(Error::FromErrno(errno, "cannot send on a socket"));
  return static_cast<std::size_t>(n);
}

Status ReceiveExactly(int socket, std::span<char> buffer, std::vector<Fd>& fds, const Deadline& deadline) {
  while (!buffer.empty()) {
    CAISSON_CHECK_OK(AwaitReadable(socket, deadline));
    CAISSON_TRY(const std::size_t n, ReceiveSome(socket, buffer, fds));
    if (n == 0) return Fail(PeerGone());
    if (fds.size() > kMaxMessageFds) return Fail(Error(Code::kInternal, "too many descriptors in one message"));
    buffer = buffer.subspan(n);
  }
  return {};
}

}  // namespace

Status AwaitReadable(int fd, const Deadline& deadline) {
  while (true) {
    pollfd entry{fd, POLLIN, 0};
    const int n = poll(&entry, 1, deadline.PollTimeout());
    if (n > 0) return {};
    if (n == 0) return Fail(Error(Code::kDeadlineExceeded, "no answer in time"));
    if (errno != EINTR) return Fail(Error::FromErrno(errno, "cannot wait for an answer"));
  }
}

Result<std::pair<Fd, Fd>> SocketPair(SocketKind kind) {
  std::array<int, 2> ends{};
  const int type = (kind == SocketKind::kStream ? SOCK_STREAM : SOCK_SEQPACKET) | SOCK_CLOEXEC;
  if (socketpair(AF_UNIX, type, 0, ends.data()) != 0) {
    return Fail(Error::FromErrno(errno, "cannot make a socket pair"));
  }
  return std::pair{Fd(ends[0]), Fd(ends[1])};
}

Status SendWithFds(int socket, std::string_view data, std::span<const int> fds) {
  bool first = true;
  while (first || !data.empty()) {
    CAISSON_TRY(const std::size_t n, SendSome(socket, data, first ? fds : std::span<const int>(), 0));
    data.remove_prefix(n);
    first = false;
  }
  return {};
}

Result<bool> TrySendPacket(int socket, std::string_view data, std::span<const int> fds) {
  const auto sent = SendSome(socket, data, fds, MSG_DONTWAIT);
  if (sent) return true;
  if (sent.error().errno_value() == EAGAIN) return false;
  return Fail(sent.error());
}

Result<Message> ReceivePacket(int socket, std::size_t limit, const Deadline& deadline) {
  CAISSON_CHECK_OK(AwaitReadable(socket, deadline));
  Message message;
  message.data.resize(limit);
  CAISSON_TRY(const std::size_t n, ReceiveSome(socket, message.data, message.fds));
  if (n == 0) return Fail(PeerGone());
  message.data.resize(n);
  return message;
}

Status SendFrame(int socket, std::string_view payload, std::span<const int> fds) {
  if (payload.size() > kMaxFrame) return Fail(Error(Code::kInvalidArgument, "the message is too large"));
  std::string frame(4, '\0');
  for (std::size_t i = 0; i < 4; ++i) frame[i] = static_cast<char>((payload.size() >> (8 * i)) & 0xffU);
  frame.append(payload);
  return SendWithFds(socket, frame, fds);
}

Result<Message> ReceiveFrame(int socket, const Deadline& deadline) {
  Message message;
  std::array<char, 4> header{};
  CAISSON_CHECK_OK(ReceiveExactly(socket, header, message.fds, deadline));
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) length |= std::size_t{static_cast<std::uint8_t>(header[i])} << (8 * i);
  if (length > kMaxFrame) return Fail(Error(Code::kInternal, "a message was larger than the protocol allows"));
  message.data.resize(length);
  CAISSON_CHECK_OK(ReceiveExactly(socket, message.data, message.fds, deadline));
  return message;
}

}  // namespace caisson::os
