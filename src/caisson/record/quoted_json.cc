#include "caisson/record/quoted_json.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "caisson/base/utf8.h"

namespace caisson::record {
namespace {

// Takes the first character off a text that is well-formed UTF-8 and not empty.
char32_t TakeCharacter(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  char32_t character = length == 1 ? first : first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) character = character << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
  text.remove_prefix(length);
  return character;
}

bool IsHidden(char32_t c) {
  const auto within = [c](char32_t low, char32_t high) { return c >= low && c <= high; };
  return within(0x7F, 0x9F) || c == 0xAD || c == 0x61C || c == 0x180E || within(0x200B, 0x200C) ||
         within(0x200E, 0x200F) || within(0x2028, 0x202E) || within(0x2060, 0x206F) || c == 0xFEFF ||
         within(0xFFF9, 0xFFFB) || within(0xE0000, 0xE007F);
}

std::string UnitEscape(unsigned unit) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "\\u%04x", unit & 0xFFFFU);
  return text.data();
}

// `bytes`: the character as it stands in the text.
std::string Written(char32_t c, std::string_view bytes) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  if (c >= ' ' && !IsHidden(c)) return std::string(bytes);
  if (c <= 0xFFFF) return UnitEscape(static_cast<unsigned>(c));
  const auto above = static_cast<unsigned>(c) - 0x10000U;
  return UnitEscape(0xD800U + (above >> 10U)) + UnitEscape(0xDC00U + (above & 0x3FFU));
}

// How much of the beginning is written as it is. A byte of a longer character is not: it has to be looked at.
std::size_t PlainLength(std::string_view text) {
  const auto is_special = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < ' ' || byte == '"' || byte == '\\' || byte >= 0x7F;
  };
  return static_cast<std::size_t>(std::find_if(text.begin(), text.end(), is_special) - text.begin());
}

}  // namespace

bool IsAscii(std::string_view text) {
  unsigned bits = 0;
  for (const char c : text) bits |= static_cast<unsigned char>(c);
  return bits < 0x80;
}

Kept AppendQuoted(std::string& out, std::string_view text, std::size_t most) {
  // No character of the result is shorter than its bytes, so that more than this is never written.
  const bool longer = text.size() > most + 4;
  std::string valid;
  std::string_view rest = text.substr(0, most + 4);
  if (longer) rest = rest.substr(0, WholeUtf8Length(rest));
  if (!IsAscii(rest) && !IsUtf8(rest)) {
    valid = ReplaceInvalidUtf8(rest);
    rest = valid;
  }
  out += '"';
  std::size_t used = 0;
  bool cut = longer;
  while (!rest.empty()) {
    const std::size_t run = PlainLength(rest.substr(0, most - used));
    out += rest.substr(0, run);
    used += run;
    rest.remove_prefix(run);
    if (rest.empty() || used == most) break;
    const std::string_view before = rest;
    const char32_t character = TakeCharacter(rest);
    const std::string written = Written(character, before.substr(0, before.size() - rest.size()));
    if (used + written.size() > most) {
      rest = before;
      break;
    }
    out += written;
    used += written.size();
  }
  cut = cut || !rest.empty();
  out += '"';
  return cut ? Kept::kCut : Kept::kWhole;
}

}  // namespace caisson::record
