#include "bench/reference_variants.h"

#include <cstring>
#include <string_view>
#include <utility>

#include "caisson/base/deadline.h"
#include "caisson/os/socket.h"

namespace caisson::bench {
namespace {

constexpr std::chrono::seconds kLongestSample{10};

}  // namespace

FloorProgram::FloorProgram(Program program, os::Fd channel)
    : program_(std::move(program)), channel_(std::move(channel)) {}

Result<std::unique_ptr<FloorProgram>> FloorProgram::Start(const std::string& path) {
  CAISSON_TRY(auto channel, os::SocketPair(os::SocketKind::kPacket));
  auto& [ours, theirs] = channel;
  CAISSON_TRY(auto program, Program::Spawn({path}, {.in = theirs.get(), .out = theirs.get(), .err = STDERR_FILENO}));
  theirs.Reset();
  // Not make_unique: the constructor is private.
  std::unique_ptr<FloorProgram> floor(new FloorProgram(std::move(program), std::move(ours)));
  CAISSON_TRY([[maybe_unused]] const auto ready, floor->Receive());
  return floor;
}

Result<std::chrono::nanoseconds> FloorProgram::Measure(FloorRequest request) {
  const std::string_view packet(reinterpret_cast<const char*>(&request), sizeof(request));
  CAISSON_CHECK_OK(os::SendWithFds(channel_.get(), packet, {}));
  return Receive();
}

Result<std::chrono::nanoseconds> FloorProgram::Receive() {
  CAISSON_TRY(const auto packet, os::ReceivePacket(channel_.get(), sizeof(FloorReply), Deadline::In(kLongestSample)));
  FloorReply reply = {};
  if (packet.data.size() != sizeof(reply)) return Fail(Error(Code::kInternal, "bench-floor sent a wrong reply"));
  std::memcpy(&reply, packet.data.data(), sizeof(reply));
  reply.reason[sizeof(reply.reason) - 1] = '\0';
  if (reply.failed != 0) return Fail(Error(Code::kUnsupported, reply.reason));
  return std::chrono::nanoseconds(reply.nanoseconds);
}

}  // namespace caisson::bench
