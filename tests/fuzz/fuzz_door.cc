// What the launcher, which is root, hears at its door from whoever connects.
// Input: what visitors do, one part each: [which of four visitors, and what] [number of descriptors and what they are]
// [a packet: two bytes of length and the bytes].

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <vector>

#include "caisson/launcher/door.h"
#include "caisson/os/socket.h"
#include "fuzz/sent_frames.h"

namespace {

using caisson::fuzz::Input;
using caisson::fuzz::Require;
using caisson::launcher::Door;
namespace os = caisson::os;
namespace plan = caisson::plan;

struct Listener {
  os::Fd socket;
  sockaddr_un address{};
  socklen_t size = sizeof address;
};

Listener Listen() {
  Listener listener;
  listener.socket.Reset(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;  // and no path: the kernel finds a name
  Require(bind(listener.socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(sa_family_t)) == 0 &&
              listen(listener.socket.get(), SOMAXCONN) == 0 &&
              getsockname(listener.socket.get(), reinterpret_cast<sockaddr*>(&listener.address), &listener.size) == 0,
          "a socket can listen");
  return listener;
}

os::Fd Connect(const Listener& listener) {
  os::Fd connection(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  (void)connect(connection.get(), reinterpret_cast<const sockaddr*>(&listener.address), listener.size);
  return connection;
}

// Until nothing is left to do.
void Serve(Door& door) {
  constexpr std::size_t kMostVisitors = 64;
  constexpr int kMostRounds = 100;
  for (int round = 0; round < kMostRounds; ++round) {
    std::vector<pollfd> entries;
    door.AppendTo(entries);
    Require(entries.size() <= 1 + kMostVisitors, "the door has room for so many visitors only");
    if (poll(entries.data(), entries.size(), 0) <= 0) return;
    const auto engine = door.Serve(entries);
    Require(!engine || engine->valid(), "an engine has a connection");
    Require(!engine || geteuid() == 0, "only root is heard");
  }
  Require(false, "what was heard is not heard again");
}

// Every answer that waits for the visitor.
void HearAnswers(const os::Fd& visitor, Door& door) {
  std::array<char, 256> bytes;
  ssize_t n = 0;
  while ((n = recv(visitor.get(), bytes.data(), bytes.size(), MSG_DONTWAIT)) > 0) {
    plan::DoorReply reply;
    Require(static_cast<std::size_t>(n) == sizeof reply, "an answer has the size of one");
    std::memcpy(&reply, bytes.data(), sizeof reply);
    const bool has_ticket = !(reply.ticket == plan::Ticket());
    Require(reply.error == 0 || !has_ticket, "a refusal gives no ticket");
    if (!has_ticket) continue;
    const auto folder = door.Take(reply.ticket);
    if (folder)
      Require(openat(folder->folder.get(), "no such name", O_RDONLY | O_CLOEXEC) < 0 && errno == ENOENT,
              "it is a folder");
    Require(!door.Take(reply.ticket), "a folder is taken once");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr int kMostActs = 64;
  constexpr std::size_t kMostPacket = 4096;
  static const os::Fd folder(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  Input input(data, size);
  Listener listener = Listen();
  const int listening = listener.socket.get();
  Door door(os::Fd(fcntl(listening, F_DUPFD_CLOEXEC, 0)));
  std::array<os::Fd, 4> visitors;
  for (int act = 0; act < kMostActs && !input.empty(); ++act) {
    const auto what = input.Take<std::uint8_t>();
    os::Fd& visitor = visitors.at(what & 3U);
    const bool leaves = (what & 4U) != 0;
    const bool listens = (what & 8U) != 0;
    const bool is_answered_first = (what & 16U) != 0;
    if (!visitor.valid()) visitor = Connect(listener);
    if (is_answered_first) Serve(door);
    const auto kinds = input.Take<std::uint8_t>();
    std::vector<int> fds;
    for (unsigned fd = 0; fd < (kinds & 3U); ++fd) {
      const unsigned kind = (kinds >> 2U) + fd;
      fds.push_back(kind % 2 == 0 ? folder.get() : caisson::fuzz::SampleDescriptor(kind / 2));
    }
    const std::string_view packet = input.TakeText().substr(0, kMostPacket);
    if (!packet.empty()) (void)os::SendWithFds(visitor.get(), packet, fds);
    if (listens) {
      Serve(door);
      HearAnswers(visitor, door);
    }
    if (leaves) visitor.Reset();
  }
  Serve(door);
  for (const os::Fd& visitor : visitors) HearAnswers(visitor, door);
  return 0;
}
