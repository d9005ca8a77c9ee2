#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "caisson/base/result.h"
#include "caisson/client/commands.h"
#include "caisson/client/event_stream.h"
#include "caisson/client/http.h"

namespace caisson::client {

enum class Stream : std::uint8_t { kStdout, kStderr };

// Positions in the two streams, in bytes.
struct Offsets {
  std::uint64_t out = 0;
  std::uint64_t err = 0;
};

// Takes a command's output; each byte once and in order, or `dropped` where some are not kept any more.
struct OutputSink {
  std::function<Status(Stream stream, std::string_view bytes)> write;
  std::function<void(Stream stream, std::uint64_t bytes)> dropped;
};

// Puts the events of one command's output in order: what was given before, because a connection was made again, is left
// out, and a hole that no `gap` explains is an error. Pure.
class OutputOrder {
 public:
  explicit OutputOrder(Offsets from) : at_(from) {}

  // Whether the event was the last. Errors: kInternal for an event that is not understood; those of the sink.
  Result<bool> Take(const StreamEvent& event, const OutputSink& sink);

  Offsets at() const { return at_; }
  const std::optional<ResultView>& result() const { return result_; }

 private:
  std::uint64_t& At(Stream stream) { return stream == Stream::kStdout ? at_.out : at_.err; }

  Offsets at_;
  std::optional<ResultView> result_;
};

struct FollowOptions {
  bool wait = true;  // until the command ends; otherwise what there is now
  Offsets from;
  // Without any byte for so long a connection counts as lost: three of the comments that come while nothing happens.
  std::chrono::milliseconds silence{45'000};
  // How long to try again after a connection was lost or refused, before giving up.
  std::chrono::milliseconds patience{10'000};
};

// What became of following: the result when the command has ended; nothing when `wake` wanted to stop, or when there
// was no more of a running command's output and nobody wants to wait.
struct Followed {
  std::optional<ResultView> result;
  StreamEnd end = StreamEnd::kEnded;
};

// Follows a command's output over a connection of its own, which is made again, from where it was, when it is lost.
// Errors: those of Http::Ask and of the sink; kUnavailable when the node stays away longer than the patience.
Result<Followed> FollowOutput(const Endpoint& endpoint, std::string_view sandbox, std::string_view command,
                              const FollowOptions& options, const OutputSink& sink, const Wake& wake = {});

}  // namespace caisson::client
