#include "caisson/launcher/door.h"

#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "caisson/os/socket.h"

namespace caisson::launcher {
namespace {

constexpr std::size_t kMostVisitors = 64;

// Nobody waits here: a packet is there, or the visitor has gone.
constexpr std::chrono::milliseconds kNoPatience{0};

bool IsRoot(const os::Fd& connection) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == 0;
}

bool IsFolder(const os::Fd& fd) {
  struct stat info{};
  return fstat(fd.get(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool Reply(const os::Fd& connection, const plan::DoorReply& reply) {
  const std::string_view bytes(reinterpret_cast<const char*>(&reply), sizeof reply);
  return send(connection.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(sizeof reply);
}

}  // namespace

void Door::AppendTo(std::vector<pollfd>& entries) const {
  entries.push_back({listener_.get(), POLLIN, 0});
  for (const Visitor& visitor : visitors_) entries.push_back({visitor.connection.get(), POLLIN, 0});
}

std::optional<os::Fd> Door::Serve(std::span<const pollfd> entries) {
  std::optional<os::Fd> engine;
  std::vector<Visitor> staying;
  for (std::size_t i = 0; i < visitors_.size(); ++i) {
    Visitor& visitor = visitors_[i];
    const Next next = entries[i + 1].revents == 0 ? Next::kStays : Hear(visitor);
    if (next == Next::kIsEngine) engine = std::move(visitor.connection);
    if (next == Next::kStays) staying.push_back(std::move(visitor));
  }
  visitors_ = std::move(staying);
  if (entries[0].revents != 0) Accept();
  return engine;
}

std::optional<Door::Deposit> Door::Take(const plan::Ticket& ticket) {
  const auto found = std::ranges::find_if(visitors_, [&](const Visitor& visitor) { return visitor.ticket == ticket; });
  if (found == visitors_.end() || !found->deposit.folder.valid()) return std::nullopt;
  return std::move(found->deposit);
}

void Door::Accept() {
  os::Fd connection(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection.valid() || !IsRoot(connection) || visitors_.size() >= kMostVisitors) return;
  visitors_.push_back({std::move(connection), std::nullopt, {}});
}

Door::Next Door::Hear(Visitor& visitor) const {
  auto message = os::ReceivePacket(visitor.connection.get(), sizeof(plan::DoorRequest), Deadline::In(kNoPatience));
  plan::DoorRequest request;
  if (!message || message->data.size() != sizeof request) return Next::kLeaves;
  std::memcpy(&request, message->data.data(), sizeof request);
  plan::DoorReply reply;
  if (request.version != reply.version) {
    reply.error = EPROTO;
    (void)Reply(visitor.connection, reply);
    return Next::kLeaves;
  }
  if (request.hello == plan::Hello::kEngine) return Reply(visitor.connection, reply) ? Next::kIsEngine : Next::kLeaves;
  if (request.hello != plan::Hello::kDeposit || message->fds.empty() || message->fds.size() > 2 ||
      !IsFolder(message->fds[0])) {
    reply.error = EINVAL;
  } else if (getrandom(reply.ticket.bytes, sizeof reply.ticket.bytes, 0) !=
             static_cast<ssize_t>(sizeof reply.ticket.bytes)) {
    reply.error = EIO;
  } else {
    visitor.ticket = reply.ticket;
    visitor.deposit = {std::move(message->fds[0]), message->fds.size() == 2 ? std::move(message->fds[1]) : os::Fd()};
  }
  return Reply(visitor.connection, reply) && reply.error == 0 ? Next::kStays : Next::kLeaves;
}

}  // namespace caisson::launcher
