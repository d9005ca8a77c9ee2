// The events of a command's output, as a node sends them to the command line, in pieces that are cut anywhere.
// Input: a length of two bytes for the piece, then the stream.

#include <string>
#include <vector>

#include "caisson/client/event_stream.h"
#include "caisson/client/follow.h"
#include "caisson/client/problem.h"
#include "fuzz/fuzz_input.h"

namespace {

using caisson::client::StreamEvent;
using caisson::fuzz::Require;

std::vector<StreamEvent> Parse(std::string_view text, std::size_t piece) {
  caisson::client::EventStreamParser parser;
  std::vector<StreamEvent> events;
  while (!text.empty()) {
    const auto fed = parser.Feed(text.substr(0, piece), [&](StreamEvent&& event) {
      events.push_back(std::move(event));
      return true;
    });
    if (!fed) break;
    text.remove_prefix(std::min(piece, text.size()));
  }
  return events;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  caisson::fuzz::Input input(data, size);
  const std::size_t piece = input.Take<std::uint16_t>() + std::size_t{1};
  const std::string_view text = input.TakeRest();
  const std::vector<StreamEvent> events = Parse(text, piece);
  const std::vector<StreamEvent> whole = Parse(text, text.size() + 1);
  Require(events.size() == whole.size(), "pieces change nothing");
  for (std::size_t i = 0; i < events.size(); ++i) {
    Require(events[i].id == whole[i].id && events[i].name == whole[i].name && events[i].data == whole[i].data,
            "pieces change nothing");
  }
  std::uint64_t out = 0;
  std::uint64_t err = 0;
  const caisson::client::OutputSink sink{
      [&](caisson::client::Stream stream, std::string_view bytes) -> caisson::Status {
        (stream == caisson::client::Stream::kStdout ? out : err) += bytes.size();
        return {};
      },
      [&](caisson::client::Stream stream, std::uint64_t bytes) {
        (stream == caisson::client::Stream::kStdout ? out : err) += bytes;
      }};
  caisson::client::OutputOrder order({});
  for (const StreamEvent& event : events) {
    const auto taken = order.Take(event, sink);
    Require(order.at().out == out && order.at().err == err, "a position counts what was given");
    if (!taken || *taken) break;
  }
  (void)caisson::client::ErrorOfReply(400, text);
  return 0;
}
