#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "caisson/base/deadline.h"
#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::os {

enum class SocketKind { kStream, kPacket };

// Two connected unix sockets, close-on-exec. Source: socketpair(2), unix(7).
Result<std::pair<Fd, Fd>> SocketPair(SocketKind kind);

// At most this many descriptors travel with one message (the kernel's own bound is 253).
inline constexpr std::size_t kMaxMessageFds = 32;

// Sends all of `data` with `fds` attached to its first byte. Never raises SIGPIPE. Blocks while the peer's buffer is
// full. Errors: kUnavailable when the peer is gone.
Status SendWithFds(int socket, std::string_view data, std::span<const int> fds);

// One packet, unless that would have to wait: then false, and nothing was sent. Otherwise as SendWithFds.
Result<bool> TrySendPacket(int socket, std::string_view data, std::span<const int> fds);

struct Message {
  std::string data;
  std::vector<Fd> fds;
};

// Until a socket or pipe has something to read or its peer is gone. Errors: kDeadlineExceeded.
Status AwaitReadable(int fd, const Deadline& deadline);

// One packet of at most `limit` bytes. Every descriptor that came is owned by the result or closed.
// Errors: kUnavailable at end of stream, kDeadlineExceeded, kInternal when the packet was cut.
Result<Message> ReceivePacket(int socket, std::size_t limit, const Deadline& deadline);

// Frames: a 4-byte little-endian length and that many bytes, over a stream socket; descriptors ride on the first byte.
inline constexpr std::size_t kMaxFrame = 4U << 20U;
Status SendFrame(int socket, std::string_view payload, std::span<const int> fds = {});
// Errors as ReceivePacket; a length over kMaxFrame is kInternal and nothing is allocated for it.
Result<Message> ReceiveFrame(int socket, const Deadline& deadline);

}  // namespace caisson::os
