#include "caisson/client/follow.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "caisson/base/base64.h"
#include "caisson/base/deadline.h"
#include "caisson/client/connect.h"
#include "caisson/client/reply_reader.h"
#include "caisson/client/target.h"
#include "caisson/os/poll.h"

namespace caisson::client {
namespace {

constexpr std::chrono::milliseconds kFirstPause{50};
constexpr std::chrono::milliseconds kLongestPause{1'000};

std::optional<Stream> StreamOf(std::string_view name) {
  if (name == "stdout") return Stream::kStdout;
  if (name == "stderr") return Stream::kStderr;
  return std::nullopt;
}

Result<std::string> BytesOf(const boost::json::object& event) {
  if (auto text = OptionalTextAt(event, "text")) return std::move(*text);
  if (const auto encoded = OptionalTextAt(event, "base64")) {
    if (auto bytes = DecodeBase64(*encoded)) return std::move(*bytes);
  }
  return Fail(NotUnderstood("an event of output has neither text nor base64"));
}

// One pause between two tries, which the wake may end. Whether to go on.
Verdict PauseFor(std::chrono::milliseconds span, const Wake& wake) {
  const Deadline deadline = Deadline::In(span);
  while (!deadline.Passed()) {
    std::array<pollfd, 1> entries = {pollfd{wake.fd, POLLIN, 0}};
    if (!os::Poll(entries, deadline.PollTimeout())) return Verdict::kContinue;
    if (entries[0].revents != 0 && wake.on_ready() == Verdict::kStop) return Verdict::kStop;
  }
  return Verdict::kContinue;
}

// One connection's worth of following.
struct Attempt {
  Result<StreamEnd> end;
  bool moved = false;  // whether something came
};

Attempt FollowOnce(const Endpoint& endpoint, const std::string& target, const FollowOptions& options,
                   const OutputSink& sink, const Wake& wake, OutputOrder& order) {
  Http http(endpoint);
  EventStreamParser parser;
  Status taken;
  Attempt attempt{StreamEnd::kEnded};
  const Offsets from = order.at();
  const Request request{.target = target,
                        .accept = "text/event-stream",
                        .headers = {{"Last-Event-ID", std::to_string(from.out) + "," + std::to_string(from.err)}}};
  const auto take_event = [&](StreamEvent&& event) {
    const Result<bool> last = order.Take(event, sink);
    if (!last) taken = Fail(last.error());
    return taken.has_value() && !*last;
  };
  const auto take_bytes = [&](std::string_view bytes) {
    attempt.moved = true;
    if (Status fed = parser.Feed(bytes, take_event); !fed) taken = std::move(fed);
    return taken && !order.result() ? Verdict::kContinue : Verdict::kStop;
  };
  attempt.end = http.Stream(request, take_bytes, wake, options.silence);
  if (!taken) attempt.end = Fail(taken.error());
  return attempt;
}

}  // namespace

Result<bool> OutputOrder::Take(const StreamEvent& event, const OutputSink& sink) {
  if (event.name == "end") {
    CAISSON_TRY(result_, ReadResult(event.data));
    return true;
  }
  const bool is_gap = event.name == "gap";
  if (!is_gap && !StreamOf(event.name)) return false;  // of a later version
  CAISSON_TRY(const boost::json::value value, ParseObject(event.data));
  const boost::json::object& object = value.get_object();
  const std::optional<Stream> stream = StreamOf(is_gap ? TextAt(object, "stream") : event.name);
  const std::int64_t offset = IntegerAt(object, "offset");
  if (!stream || offset < 0) return Fail(NotUnderstood("an event names no stream or no offset"));
  std::uint64_t& at = At(*stream);
  const auto begin = static_cast<std::uint64_t>(offset);
  if (begin > at) return Fail(NotUnderstood("bytes of the output are missing"));
  if (is_gap) {
    const std::uint64_t end =
        begin + static_cast<std::uint64_t>(std::max<std::int64_t>(IntegerAt(object, "dropped_bytes"), 0));
    if (end > at) sink.dropped(*stream, end - at);
    at = std::max(at, end);
    return false;
  }
  CAISSON_TRY(const std::string bytes, BytesOf(object));
  const std::uint64_t known = at - begin;
  if (known >= bytes.size()) return false;
  CAISSON_CHECK_OK(sink.write(*stream, std::string_view(bytes).substr(known)));
  at = begin + bytes.size();
  return false;
}

Result<Followed> FollowOutput(const Endpoint& endpoint, std::string_view sandbox, std::string_view command,
                              const FollowOptions& options, const OutputSink& sink, const Wake& wake) try {
  const std::string target = SandboxTarget(
      sandbox, "/commands/" + EncodeSegment(command) + "/output?follow=" + (options.wait ? "true" : "false"));
  OutputOrder order(options.from);
  std::optional<Deadline> give_up;  // set while nothing comes
  std::chrono::milliseconds pause = kFirstPause;
  while (true) {
    const Attempt attempt = FollowOnce(endpoint, target, options, sink, wake, order);
    if (order.result()) return Followed{order.result(), StreamEnd::kEnded};
    const bool is_over = attempt.end && (*attempt.end == StreamEnd::kStopped || !options.wait);
    if (is_over) return Followed{std::nullopt, *attempt.end};
    // A stream that ends without the command's end was cut, whoever did it.
    Error error = attempt.end ? LostError(endpoint, "the node ended the stream") : attempt.end.error();
    const bool is_worth_trying = IsLost(error) || IsRefused(error) || error.retryable();
    if (!is_worth_trying) return Fail(std::move(error));
    if (attempt.moved) {
      give_up.reset();
      pause = kFirstPause;
    }
    if (!give_up) give_up = Deadline::In(options.patience);
    if (give_up->Passed()) return Fail(std::move(error).Context("following the output"));
    if (PauseFor(pause, wake) == Verdict::kStop) return Followed{std::nullopt, StreamEnd::kStopped};
    pause = std::min(pause * 2, kLongestPause);
  }
} catch (const std::exception& error) {  // of the JSON reader, for want of memory
  return Fail(Error(Code::kInternal, "following the output failed").Because(error.what()));
}

}  // namespace caisson::client
