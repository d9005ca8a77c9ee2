#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "caisson/service/service.h"

namespace caisson::rest {

// One server-sent event. None of them has a line break. Source: WHATWG HTML, 9.2.
std::string EventText(std::string_view name, std::string_view id, std::string_view data);

// What an event stream sends while it has nothing to say.
inline constexpr std::string_view kSilenceComment = ": \n\n";

// Writes the output of one command as events: `stdout` and `stderr` with {"offset","text"} or, when it is not UTF-8,
// {"offset","base64"}; `gap` with {"stream","offset","dropped_bytes"}. A character that the end of a chunk cuts short
// is kept back for the next one. The id of each event is "OUT,ERR", the offsets from which to go on after it.
class OutputEvents {
 public:
  OutputEvents(std::uint64_t stdout_from, std::uint64_t stderr_from) {
    streams_[0].next = stdout_from;
    streams_[1].next = stderr_from;
  }

  std::string Write(const service::OutputFollower::Chunk& chunk);
  // What was kept back: nothing follows it.
  std::string Flush();
  std::string Id() const;

 private:
  struct Kept {
    std::string bytes;
    std::uint64_t next = 0;  // offset after the last event
  };
  std::string Flush(service::Stream stream);
  std::string Event(service::Stream stream, std::string_view bytes);

  Kept streams_[2];
};

// The greatest offset of a stream, or number of an event, that a client may go on from.
inline constexpr std::uint64_t kMostPosition = 999'999'999'999'999'999;

// 1 to 18 digits; nothing when it is none.
std::optional<std::uint64_t> ParsePosition(std::string_view text);

// "OUT,ERR" read back, each as ParsePosition; nothing when it is none.
std::optional<std::pair<std::uint64_t, std::uint64_t>> ParseOutputId(std::string_view id);

}  // namespace caisson::rest
