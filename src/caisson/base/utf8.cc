#include "caisson/base/utf8.h"

#include <algorithm>
#include <cstdint>

namespace caisson {
namespace {

constexpr std::size_t kQuotedLength = 64;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

unsigned char ByteAt(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

// Of the sequence a first byte announces: its length, and the range of its second byte, which rules out overlong forms,
// surrogates and what lies above U+10FFFF. Length 0: no sequence begins so.
struct Shape {
  std::size_t length = 0;
  unsigned char second_low = 0x80;
  unsigned char second_high = 0xBF;
};

Shape ShapeOf(unsigned char first) {
  if (first < 0x80) return {.length = 1};
  if (first >= 0xC2 && first <= 0xDF) return {.length = 2};
  if (first == 0xE0) return {.length = 3, .second_low = 0xA0};
  if (first == 0xED) return {.length = 3, .second_high = 0x9F};
  if (first >= 0xE1 && first <= 0xEF) return {.length = 3};
  if (first == 0xF0) return {.length = 4, .second_low = 0x90};
  if (first == 0xF4) return {.length = 4, .second_high = 0x8F};
  if (first >= 0xF1 && first <= 0xF3) return {.length = 4};
  return {};
}

enum class Sequence { kWhole, kCutShort, kInvalid };

// Judges the sequence at the beginning of a text that is not empty.
Sequence Judge(std::string_view text) {
  const Shape shape = ShapeOf(ByteAt(text, 0));
  if (shape.length == 0) return Sequence::kInvalid;
  for (std::size_t i = 1; i < shape.length; ++i) {
    if (i == text.size()) return Sequence::kCutShort;
    const unsigned char low = i == 1 ? shape.second_low : 0x80;
    const unsigned char high = i == 1 ? shape.second_high : 0xBF;
    if (ByteAt(text, i) < low || ByteAt(text, i) > high) return Sequence::kInvalid;
  }
  return Sequence::kWhole;
}

std::string HexEscape(unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 0xFU]};
}

// Appends one whole sequence, escaped when it is a control character: U+0000 to U+001F, U+007F to U+009F.
void AppendPrintable(std::string& out, std::string_view sequence) {
  const unsigned char first = ByteAt(sequence, 0);
  if (first == '\n') {
    out += "\\n";
  } else if (first == '\t') {
    out += "\\t";
  } else if (first < 0x20 || first == 0x7F) {
    out += HexEscape(first);
  } else if (first == 0xC2 && ByteAt(sequence, 1) < 0xA0) {
    out += HexEscape(ByteAt(sequence, 1));
  } else {
    out += sequence;
  }
}

}  // namespace

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    if (Judge(text) != Sequence::kWhole) return false;
    text.remove_prefix(ShapeOf(ByteAt(text, 0)).length);
  }
  return true;
}

std::size_t WholeUtf8Length(std::string_view text) {
  constexpr std::size_t kLongestCut = 3;
  for (std::size_t cut = 1; cut <= std::min(kLongestCut, text.size()); ++cut) {
    const std::size_t start = text.size() - cut;
    if (ShapeOf(ByteAt(text, start)).length > 1) {
      return Judge(text.substr(start)) == Sequence::kCutShort ? start : text.size();
    }
  }
  return text.size();
}

std::string ReplaceInvalidUtf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const bool whole = Judge(text) == Sequence::kWhole;
    const std::size_t length = whole ? ShapeOf(ByteAt(text, 0)).length : 1;
    out += whole ? text.substr(0, length) : kReplacement;
    text.remove_prefix(length);
  }
  return out;
}

std::string Printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const bool whole = Judge(text) == Sequence::kWhole;
    const std::size_t length = whole ? ShapeOf(ByteAt(text, 0)).length : 1;
    if (whole) {
      AppendPrintable(out, text.substr(0, length));
    } else {
      out += HexEscape(ByteAt(text, 0));
    }
    text.remove_prefix(length);
  }
  return out;
}

std::string Quoted(std::string_view text) {
  if (text.size() <= kQuotedLength) return "'" + Printable(text) + "'";
  const std::string_view beginning = text.substr(0, kQuotedLength);
  return "'" + Printable(beginning.substr(0, WholeUtf8Length(beginning))) + "...'";
}

std::size_t CountCharacters(std::string_view text) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins));
}

}  // namespace caisson
