#pragma once

#include <string>
#include <string_view>

namespace caisson {

// True when `text` is well-formed UTF-8: no overlong form, no surrogate, nothing above U+10FFFF. Source: RFC 3629.
bool IsUtf8(std::string_view text);

// The length of `text` without a sequence that its end cut short: what to keep of a stream that was cut at a byte.
std::size_t WholeUtf8Length(std::string_view text);

// How many code points well-formed UTF-8 has: what JSON Schema calls its length.
std::size_t CountCharacters(std::string_view text);

// The same text with each byte that is not part of well-formed UTF-8 replaced by U+FFFD.
std::string ReplaceInvalidUtf8(std::string_view text);

// For a terminal: control characters and bytes that are not UTF-8 as \n, \t or \xNN.
std::string Printable(std::string_view text);

// 'text' as Printable, in quotes, at most 64 bytes of it: how a message repeats what a caller gave.
std::string Quoted(std::string_view text);

}  // namespace caisson
