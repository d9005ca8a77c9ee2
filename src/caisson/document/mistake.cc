#include "caisson/document/mistake.h"

#include <algorithm>

#include "caisson/base/utf8.h"

namespace caisson::document {

Error MistakeAt(std::string_view name, const Place& place, std::string_view what) {
  const std::string line = std::to_string(place.line);
  const std::string column = std::to_string(place.column);
  return Error(Code::kInvalidArgument, Printable(name) + ":" + line + ":" + column + ": " + Printable(what))
      .Detail("line", line)
      .Detail("column", column);
}

Place PlaceAt(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_begin = before.rfind('\n') + 1;  // of none, npos: 0
  return {.line = static_cast<std::uint32_t>(lines) + 1,
          .column = static_cast<std::uint32_t>(CountCharacters(before.substr(line_begin))) + 1};
}

}  // namespace caisson::document
