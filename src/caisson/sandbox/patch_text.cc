#include "caisson/sandbox/patch_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace caisson::sandbox {
namespace {

unsigned char ByteAt(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

// The character at the beginning of a text that is not empty.
struct Character {
  bool valid = false;  // false: a byte that is part of no character
  std::size_t length = 1;
  char32_t value = 0;
};

Character Decode(std::string_view text) {
  const unsigned char first = ByteAt(text, 0);
  if (first < 0x80) return {.valid = true, .length = 1, .value = first};
  // The lowest value of each length: what is below could be written shorter.
  constexpr char32_t kLowest[] = {0, 0, 0x80, 0x800, 0x10000};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC0 || first > 0xF7 || text.size() < length) return {};
  char32_t value = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((ByteAt(text, i) & 0xC0U) != 0x80) return {};
    value = (value << 6U) | (ByteAt(text, i) & 0x3FU);
  }
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kLowest[length] || value > 0x10FFFF || surrogate) return {};
  return {.valid = true, .length = length, .value = value};
}

bool IsControl(char32_t value) { return value < 0x20 || (value >= 0x7F && value <= 0x9F); }

// The Unicode property Bidi_Control: they let a line read other than it is.
bool IsBidirectionalControl(char32_t value) {
  return value == 0x061C || value == 0x200E || value == 0x200F || (value >= 0x202A && value <= 0x202E) ||
         (value >= 0x2066 && value <= 0x2069);
}

void AppendHex(std::string& out, std::uint32_t value, int digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (int digit = digits - 1; digit >= 0; --digit)
    out += kDigits[(value >> (4U * static_cast<unsigned>(digit))) & 0xFU];
}

// A byte as it stands between quotes.
void AppendQuoted(std::string& out, unsigned char byte) {
  constexpr std::string_view kShort = "\a\b\t\n\v\f\r\"\\";
  constexpr std::string_view kLetters = "abtnvfr\"\\";
  out += '\\';
  if (const auto at = kShort.find(static_cast<char>(byte)); at != std::string_view::npos) {
    out += kLetters[at];
    return;
  }
  for (const unsigned shift : {6U, 3U, 0U}) out += static_cast<char>('0' + ((byte >> shift) & 7U));
}

}  // namespace

std::string PatchName(std::string_view prefix, std::string_view path) {
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  std::string name = std::string(prefix) + "/";
  bool quoted = false;
  while (!path.empty()) {
    const Character character = Decode(path);
    const bool plain = character.valid && !IsControl(character.value) && !IsBidirectionalControl(character.value) &&
                       character.value != '"' && character.value != '\\';
    if (plain) name += path.substr(0, character.length);
    for (std::size_t i = 0; !plain && i < character.length; ++i) AppendQuoted(name, ByteAt(path, i));
    quoted = quoted || !plain;
    path.remove_prefix(character.length);
  }
  return quoted ? "\"" + name + "\"" : name;
}

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    const std::size_t length = newline == std::string_view::npos ? text.size() : newline + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

void AppendForTerminal(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const Character character = Decode(text);
    if (!character.valid) {
      out += "\\x";
      AppendHex(out, ByteAt(text, 0), 2);
    } else if (IsControl(character.value) && character.value != '\t' && character.value != '\n') {
      out += "\\x";
      AppendHex(out, character.value, 2);
    } else if (IsBidirectionalControl(character.value)) {
      out += "\\u";
      AppendHex(out, character.value, 4);
    } else {
      out += text.substr(0, character.length);
    }
    text.remove_prefix(character.length);
  }
}

}  // namespace caisson::sandbox
