#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace caisson::record {

// What became of a text on its way into a record.
enum class Kept { kWhole, kCut };

// Appends `text` as a JSON string, at most `most` bytes of it between the quotes, cut between characters. Bytes that
// are not UTF-8 become U+FFFD. What a terminal or a reader might act on is \uXXXX: control characters with DEL and C1,
// line separators, marks that turn the direction of text, invisible tags. Source: RFC 8259.
Kept AppendQuoted(std::string& out, std::string_view text, std::size_t most);

// Quicker than IsUtf8 for nearly all texts.
bool IsAscii(std::string_view text);

}  // namespace caisson::record
