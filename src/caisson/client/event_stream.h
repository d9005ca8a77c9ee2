#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "caisson/base/result.h"
#include "caisson/base/units.h"

namespace caisson::client {

// One server-sent event.
struct StreamEvent {
  std::string id;    // the last one that the stream gave, of this event or an earlier one
  std::string name;  // "message" when the stream names none
  std::string data;
};

// Takes a stream of server-sent events apart, in whatever pieces it comes: lines end with LF, CR or CRLF, a comment
// and an unknown field are passed over, an event without data is none, and what the end of the stream cut short is
// not given. Pure. Source: WHATWG HTML, 9.2.6.
class EventStreamParser {
 public:
  static constexpr Bytes kLargestEvent = MiB(32);

  // Gives each whole event to `sink`, in order, and ends when it returns false. Errors: kResourceExhausted when one
  // event is larger than kLargestEvent, after which the parser must not be used.
  Status Feed(std::string_view bytes, const std::function<bool(StreamEvent&&)>& sink);

 private:
  // What the end of one line means; false when the sink wants no more.
  bool EndLine(const std::function<bool(StreamEvent&&)>& sink);
  void TakeField(std::string_view name, std::string_view value);

  std::string line_;
  std::string id_;
  std::string name_;
  std::string data_;
  bool has_data_ = false;
  bool at_start_ = true;   // where a byte order mark may stand
  bool after_cr_ = false;  // a LF that follows belongs to that line's end
};

}  // namespace caisson::client
