#include "caisson/client/event_stream.h"

#include <utility>

namespace caisson::client {

Status EventStreamParser::Feed(std::string_view bytes, const std::function<bool(StreamEvent&&)>& sink) {
  while (!bytes.empty()) {
    if (std::exchange(after_cr_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, end);
    if (line_.size() + data_.size() > kLargestEvent.value) {
      return Fail(Error(Code::kResourceExhausted, "the node sent an event that is too large")
                      .Because("an event has at most " + FormatBytes(kLargestEvent)));
    }
    if (end == std::string_view::npos) return {};
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (!EndLine(sink)) return {};
  }
  return {};
}

bool EventStreamParser::EndLine(const std::function<bool(StreamEvent&&)>& sink) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::string line = std::exchange(line_, {});
  std::string_view rest = line;
  if (std::exchange(at_start_, false) && rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  if (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    std::string_view value = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    TakeField(rest.substr(0, colon), value);
    return true;
  }
  StreamEvent event{id_, std::exchange(name_, {}), std::exchange(data_, {})};
  if (!std::exchange(has_data_, false)) return true;
  if (event.name.empty()) event.name = "message";
  return sink(std::move(event));
}

void EventStreamParser::TakeField(std::string_view name, std::string_view value) {
  if (name == "data") {
    if (std::exchange(has_data_, true)) data_ += '\n';
    data_ += value;
  } else if (name == "event") {
    name_ = value;
  } else if (name == "id" && value.find('\0') == std::string_view::npos) {
    id_ = value;
  }
}

}  // namespace caisson::client
