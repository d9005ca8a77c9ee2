#include <algorithm>

#include "caisson/rest/request_head.h"

namespace caisson::rest {
namespace {

constexpr std::size_t kMostFields = 100;

Error Malformed(const char* cause) { return Error(Code::kInvalidArgument, "the request is malformed").Because(cause); }

// A character of a name. Source: RFC 9110, 5.6.2.
bool IsTokenChar(char c) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kOthers.find(c) != std::string_view::npos;
}

bool IsToken(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenChar); }

Status CheckRequestLine(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || last == first) return Fail(Malformed("its first line has not three parts"));
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (!IsToken(method)) return Fail(Malformed("its method is no name"));
  const bool visible = std::all_of(target.begin(), target.end(), [](char c) { return c > ' ' && c < 0x7F; });
  if (target.empty() || !visible) return Fail(Malformed("its target holds characters that must be encoded"));
  return {};
}

Status CheckField(std::string_view line) {
  if (line.front() == ' ' || line.front() == '\t') return Fail(Malformed("a field goes on in a second line"));
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !IsToken(line.substr(0, colon))) {
    return Fail(Malformed("a field has no name, or a space before its colon"));
  }
  return {};
}

}  // namespace

Status CheckHead(std::string_view head) {
  std::size_t lines = 0;
  while (!head.empty()) {
    const std::size_t end = head.find('\n');
    if (end == std::string_view::npos || end == 0 || head[end - 1] != '\r') {
      return Fail(Malformed("a line does not end in CR and LF"));
    }
    const std::string_view line = head.substr(0, end - 1);
    head.remove_prefix(end + 1);
    const bool printable = std::all_of(line.begin(), line.end(), [](char c) {
      return (static_cast<unsigned char>(c) >= ' ' && c != 0x7F) || c == '\t';
    });
    if (!printable) return Fail(Malformed("it holds a control character"));
    if (line.empty()) {
      if (lines == 0 || !head.empty()) return Fail(Malformed("it has an empty line in it"));
      return {};
    }
    if (lines == 0) {
      CAISSON_CHECK_OK(CheckRequestLine(line));
    } else {
      CAISSON_CHECK_OK(CheckField(line));
    }
    if (++lines > kMostFields + 1) return Fail(Malformed("it has more than 100 fields"));
  }
  return Fail(Malformed("it has no end"));
}

}  // namespace caisson::rest
