#include "caisson/state/sandbox_cursor.h"

#include <charconv>

#include "caisson/base/id.h"
#include "caisson/base/utf8.h"

namespace caisson::state {

std::string SandboxCursor::Text() const { return std::to_string(created_at) + "." + id; }

Result<SandboxCursor> SandboxCursor::Parse(const std::string& text) {
  SandboxCursor cursor;
  const char* end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, cursor.created_at);
  if (number.ec == std::errc() && number.ptr != end && *number.ptr == '.') {
    cursor.id.assign(number.ptr + 1, end);
    // One text for each place, so that a cursor can be compared.
    if (SandboxId::Parse(cursor.id) && cursor.Text() == text) return cursor;
  }
  return Fail(Error(Code::kInvalidArgument, "not a cursor: " + Quoted(text))
                  .Remedy("pass the cursor of the page before, unchanged, or none"));
}

}  // namespace caisson::state
