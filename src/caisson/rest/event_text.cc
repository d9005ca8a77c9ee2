#include "caisson/rest/event_text.h"

#include <boost/json.hpp>

#include "caisson/base/base64.h"
#include "caisson/base/units.h"
#include "caisson/base/utf8.h"
#include "caisson/wire/json_text.h"

namespace caisson::rest {
namespace {

constexpr std::size_t kMostDigits = 18;  // of kMostPosition

const char* NameOf(service::Stream stream) { return stream == service::Stream::kStdout ? "stdout" : "stderr"; }

std::string OneLine(const boost::json::value& value) {
  std::string line = wire::JsonLine(value);
  line.pop_back();
  return line;
}

}  // namespace

std::string EventText(std::string_view name, std::string_view id, std::string_view data) {
  std::string out = "event: ";
  out.append(name).append("\nid: ").append(id).append("\ndata: ").append(data).append("\n\n");
  return out;
}

std::string OutputEvents::Id() const {
  return std::to_string(streams_[0].next) + "," + std::to_string(streams_[1].next);
}

std::string OutputEvents::Event(service::Stream stream, std::string_view bytes) {
  Kept& kept = streams_[static_cast<std::size_t>(stream)];
  boost::json::object data;
  data["offset"] = kept.next;
  if (IsUtf8(bytes)) {
    data["text"] = boost::json::string_view(bytes.data(), bytes.size());
  } else {
    data["base64"] = Base64(bytes);
  }
  kept.next += bytes.size();
  return EventText(NameOf(stream), Id(), OneLine(data));
}

std::string OutputEvents::Flush(service::Stream stream) {
  Kept& kept = streams_[static_cast<std::size_t>(stream)];
  if (kept.bytes.empty()) return {};
  const std::string bytes = std::exchange(kept.bytes, {});
  return Event(stream, bytes);
}

std::string OutputEvents::Flush() { return Flush(service::Stream::kStdout) + Flush(service::Stream::kStderr); }

std::string OutputEvents::Write(const service::OutputFollower::Chunk& chunk) {
  Kept& kept = streams_[static_cast<std::size_t>(chunk.stream)];
  if (chunk.dropped > 0) {
    std::string out = Flush(chunk.stream);
    kept.next = chunk.offset + chunk.dropped;
    boost::json::object data;
    data["stream"] = NameOf(chunk.stream);
    data["offset"] = chunk.offset;
    data["dropped_bytes"] = chunk.dropped;
    return out + EventText("gap", Id(), OneLine(data));
  }
  kept.bytes += chunk.bytes;
  const std::string whole = kept.bytes.substr(0, WholeUtf8Length(kept.bytes));
  if (whole.empty()) return {};
  kept.bytes.erase(0, whole.size());
  return Event(chunk.stream, whole);
}

std::optional<std::uint64_t> ParsePosition(std::string_view text) {
  const auto position = ParseCount(text, "id", 0, kMostPosition);
  if (!position || text.size() > kMostDigits) return std::nullopt;
  return *position;
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> ParseOutputId(std::string_view id) {
  const std::size_t comma = id.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const auto out = ParsePosition(id.substr(0, comma));
  const auto err = ParsePosition(id.substr(comma + 1));
  if (!out || !err) return std::nullopt;
  return std::pair{*out, *err};
}

}  // namespace caisson::rest
