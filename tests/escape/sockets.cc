#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "caisson/os/fd.h"
#include "escape/probe.h"

namespace caisson::escape {
namespace {

constexpr int kLastFamily = 46;

// The family is passed whole, so that a filter which compares 64 bits can be told from one that compares 32.
Probe OpensSocket(const char* name, const char* act, unsigned long family, unsigned long type, unsigned long protocol) {
  return {name, "F6", act, [family, type, protocol](const Context&) {
            const os::Fd fd(static_cast<int>(::syscall(SYS_socket, family, type | SOCK_CLOEXEC, protocol)));
            return fd.valid() ? Succeeded() : Refused(errno);
          }};
}

Outcome OpenOtherFamily(const Context&) {
  int error = EAFNOSUPPORT;
  for (int family = 0; family <= kLastFamily; ++family) {
    if (family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK) continue;
    for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET}) {
      const os::Fd fd(::socket(family, type | SOCK_CLOEXEC, 0));
      if (fd.valid()) return Succeeded("family " + std::to_string(family));
      if (errno != EAFNOSUPPORT && errno != ESOCKTNOSUPPORT && errno != EPROTONOSUPPORT) error = errno;
    }
  }
  return Refused(error);
}

// A listener of our own on the loopback address; port 0 when that fails.
struct Listener {
  os::Fd fd;
  sockaddr_in address{};
};

Listener Listen() {
  Listener listener;
  listener.fd.Reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  listener.address.sin_family = AF_INET;
  listener.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* address = reinterpret_cast<sockaddr*>(&listener.address);
  socklen_t length = sizeof(listener.address);
  if (::bind(listener.fd.get(), address, length) != 0 || ::listen(listener.fd.get(), 4) != 0 ||
      ::getsockname(listener.fd.get(), address, &length) != 0) {
    listener.address.sin_port = 0;
  }
  return listener;
}

// Sends with MSG_FASTOPEN, which connects without connect(2).
Outcome FastOpen(long (*send)(int fd, mmsghdr* message), int protocol = IPPROTO_TCP) {
  Listener listener = Listen();
  if (listener.address.sin_port == 0) return NotRun("cannot listen on the loopback address");
  const os::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, protocol));
  if (!fd.valid()) return Refused(errno, "socket");
  char data[] = "x";
  iovec part{data, 1};
  mmsghdr message{};
  message.msg_hdr.msg_name = &listener.address;
  message.msg_hdr.msg_namelen = sizeof(listener.address);
  message.msg_hdr.msg_iov = &part;
  message.msg_hdr.msg_iovlen = 1;
  return FromReturn(send(fd.get(), &message));
}

long SendTo(int fd, mmsghdr* message) {
  return ::sendto(fd, "x", 1, MSG_FASTOPEN, static_cast<sockaddr*>(message->msg_hdr.msg_name),
                  message->msg_hdr.msg_namelen);
}
// The system call takes 32 bits of flags.
long SendToHighBit(int fd, mmsghdr* message) {
  return ::syscall(SYS_sendto, fd, "x", 1UL, static_cast<unsigned long>(MSG_FASTOPEN) | 1UL << 32U,
                   message->msg_hdr.msg_name, message->msg_hdr.msg_namelen);
}
long SendMessage(int fd, mmsghdr* message) { return ::sendmsg(fd, &message->msg_hdr, MSG_FASTOPEN); }
long SendMessages(int fd, mmsghdr* message) { return ::sendmmsg(fd, message, 1, MSG_FASTOPEN); }

}  // namespace

Probes SocketProbes() {
  constexpr unsigned long kHighBit = 1UL << 32U;
  return {
      OpensSocket("socket_alg", "open a socket to the kernel's cryptography", AF_ALG, SOCK_SEQPACKET, 0),
      OpensSocket("socket_vsock", "open a socket to the hypervisor", AF_VSOCK, SOCK_STREAM, 0),
      OpensSocket("socket_vsock_high_bit", "the same with bit 32 set", AF_VSOCK | kHighBit, SOCK_STREAM, 0),
      OpensSocket("socket_packet", "open a packet socket", AF_PACKET, SOCK_RAW, 0x0300),
      OpensSocket("socket_raw", "open a raw IP socket", AF_INET, SOCK_RAW, IPPROTO_ICMP),
      OpensSocket("socket_raw6", "open a raw IPv6 socket", AF_INET6, SOCK_RAW, IPPROTO_ICMPV6),
      OpensSocket("netlink_netfilter", "talk to the packet filter", AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER),
      OpensSocket("netlink_xfrm", "talk to the IPsec layer", AF_NETLINK, SOCK_RAW, NETLINK_XFRM),
      OpensSocket("netlink_audit", "talk to the audit system", AF_NETLINK, SOCK_RAW, NETLINK_AUDIT),
      OpensSocket("netlink_uevent", "listen to device events", AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT),
      {"socket_families", "F6", "open a socket of any other family", OpenOtherFamily},
      {"fastopen_sendto", "G5", "connect by sendto with MSG_FASTOPEN", [](const Context&) { return FastOpen(SendTo); }},
      {"fastopen_sendmsg", "G5", "connect by sendmsg with MSG_FASTOPEN",
       [](const Context&) { return FastOpen(SendMessage); }},
      {"fastopen_sendmmsg", "G5", "connect by sendmmsg with MSG_FASTOPEN",
       [](const Context&) { return FastOpen(SendMessages); }},
      {"fastopen_high_bit", "F5", "connect by sendto with MSG_FASTOPEN and bit 32 set",
       [](const Context&) { return FastOpen(SendToHighBit); }},
      {"fastopen_mptcp", "G5", "connect by sendto with MSG_FASTOPEN on multipath TCP",
       [](const Context&) { return FastOpen(SendTo, IPPROTO_MPTCP); }},
  };
}

}  // namespace caisson::escape
