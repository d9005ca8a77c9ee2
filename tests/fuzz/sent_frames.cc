#include "fuzz/sent_frames.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>

#include "caisson/os/socket.h"

namespace caisson::fuzz {
namespace {

std::array<os::Fd, 4> MakeSamples() {
  std::array<int, 2> pipe{};
  Require(pipe2(pipe.data(), O_CLOEXEC) == 0, "a pipe can be made");
  const os::Fd writer(pipe[1]);
  auto sockets = os::SocketPair(os::SocketKind::kStream);
  Require(sockets.has_value(), "a socket can be made");
  os::Fd terminal(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal.valid()) terminal.Reset(open("/dev/null", O_RDWR | O_CLOEXEC));  // a machine without terminals
  return {os::Fd(pipe[0]), std::move(terminal), os::Fd(open("/dev/null", O_RDWR | O_CLOEXEC)),
          std::move(sockets->first)};
}

}  // namespace

int SampleDescriptor(unsigned number) {
  static const std::array<os::Fd, 4> samples = MakeSamples();
  return samples[number % samples.size()].get();
}

void SendParts(int socket, Input& input, int count) {
  // Less than a socket holds while nobody reads.
  constexpr std::size_t kMostBytes = 32U << 10U;
  std::size_t sent = 0;
  for (int i = 0; i < count && !input.empty() && sent < kMostBytes; ++i) {
    const auto flags = input.Take<std::uint8_t>();
    const std::string_view payload = input.TakeText().substr(0, kMostBytes - sent);
    sent += payload.size();
    std::vector<int> fds;
    for (unsigned fd = 0; fd < (flags >> 1U & 7U); ++fd) fds.push_back(SampleDescriptor((flags >> 4U) + fd / 4));
    if ((flags & 1U) == 0) {
      (void)os::SendFrame(socket, payload, fds);
    } else if (!payload.empty()) {
      (void)os::SendWithFds(socket, payload, fds);
    }
  }
}

}  // namespace caisson::fuzz
