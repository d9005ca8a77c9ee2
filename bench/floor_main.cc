// bench-floor: measures the two references of caisson-bench, one sample a request (floor_wire.h), until its
// standard input ends.

#include <unistd.h>

#include <cstddef>
#include <string>

#include "bench/floor.h"
#include "bench/floor_wire.h"
#include "bench/statistics.h"
#include "caisson/os/fd.h"

namespace caisson::bench {
namespace {

FloorReply Failure(const Error& error) {
  FloorReply reply = {};
  reply.failed = 1;
  Describe(error).copy(reply.reason, sizeof(reply.reason) - 1);
  return reply;
}

FloorReply ReplyOf(const Result<std::chrono::nanoseconds>& sample) {
  if (!sample) return Failure(sample.error());
  FloorReply reply = {};
  reply.nanoseconds = sample->count();
  return reply;
}

bool Send(const FloorReply& reply) {
  return os::WriteAll(STDOUT_FILENO, {reinterpret_cast<const char*>(&reply), sizeof(reply)}).has_value();
}

int Serve() {
  auto floor = Floor::Prepare();
  if (!Send(floor ? FloorReply{} : Failure(floor.error())) || !floor) return 1;
  FloorRequest request{};
  while (::read(STDIN_FILENO, &request, sizeof(request)) == sizeof(request)) {
    const auto sample = request == FloorRequest::kFloor ? floor->RunOnce() : MeasureForkExec();
    if (!Send(ReplyOf(sample))) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace caisson::bench

int main() { return caisson::bench::Serve(); }
