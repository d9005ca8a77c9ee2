// Changes of a network: asked for things that do not exist, so that nothing happens where they are allowed.
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <sstream>
#include <string>

#include "caisson/os/fd.h"
#include "escape/attempt.h"
#include "escape/probe.h"

namespace caisson::escape {
namespace {

constexpr int kNoInterface = 0x7fffffff;

// Sends one request of NETLINK_ROUTE and returns what the kernel answers to it.
template <typename Body>
Outcome AskRoute(std::uint16_t type, const Body& body) {
  const os::Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!fd.valid()) return Refused(errno, "socket");
  struct {
    nlmsghdr header;
    Body body;
  } request{};
  request.header = {sizeof(request), type, NLM_F_REQUEST | NLM_F_ACK, 1, 0};
  request.body = body;
  if (::send(fd.get(), &request, sizeof(request), 0) < 0) return Refused(errno, "send");
  struct {
    nlmsghdr header;
    nlmsgerr error;
    char rest[512];
  } answer{};
  if (::recv(fd.get(), &answer, sizeof(answer), 0) < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(nlmsgerr)))) {
    return NotRun("no answer");
  }
  return answer.error.error == 0 ? Succeeded() : Refused(-answer.error.error);
}

Outcome RemoveInterface(const Context&) {
  ifinfomsg body{};
  body.ifi_index = kNoInterface;
  return AskRoute(RTM_DELLINK, body);
}

Outcome RemoveAddress(const Context&) {
  ifaddrmsg body{};
  body.ifa_family = AF_INET;
  body.ifa_index = kNoInterface;
  return AskRoute(RTM_DELADDR, body);
}

Outcome RemoveRoute(const Context&) {
  rtmsg body{};
  body.rtm_family = AF_INET;
  body.rtm_dst_len = 200;  // longer than an address
  return AskRoute(RTM_DELROUTE, body);
}

// Sets the flags that the loopback interface has.
Outcome SetInterfaceFlags(const Context&) {
  const os::Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  if (::ioctl(fd.get(), SIOCGIFFLAGS, &request) != 0) return NotRun("no loopback interface");
  return FromReturn(::ioctl(fd.get(), SIOCSIFFLAGS, &request));
}

// Connecting a datagram socket sends nothing; it only asks for a route. 192.0.2.1 is nobody's address (RFC 5737).
Outcome FindRouteOut(const Context&) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(9);
  ::inet_pton(AF_INET, "192.0.2.1", &address.sin_addr);
  const os::Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return FromReturn(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)));
}

Outcome FindHostSegment(const Context& context) {
  const std::string* key = context.Find("shm-key");
  if (key == nullptr) return NotRun("needs --shm-key");
  // The key is the first column, at least ten wide.
  std::istringstream lines(Content("/proc/sysvipc/shm"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t start = line.find_first_not_of(' ');
    if (start != std::string::npos && line.substr(start).starts_with(*key + " ")) return Succeeded();
  }
  return Refused(ENOENT);
}

}  // namespace

Probes NetworkProbes() {
  return {
      {"remove_interface", "G4", "remove a network interface", RemoveInterface},
      {"remove_address", "G4", "remove a network address", RemoveAddress},
      {"remove_route", "G4", "remove a route", RemoveRoute},
      {"interface_flags", "G4", "set the flags of the loopback interface", SetInterfaceFlags},
      {"route_out", "G4", "find a route to another machine", FindRouteOut},
      {"sysv_list", "D12", "find a System V segment of the host in /proc/sysvipc", FindHostSegment},
  };
}

}  // namespace caisson::escape
