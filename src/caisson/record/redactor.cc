#include "caisson/record/redactor.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

#include "caisson/base/base64.h"
#include "caisson/record/key_shapes.h"

namespace caisson::record {
namespace {

constexpr std::string_view kRedacted = "[redacted]";
constexpr std::size_t kLongestName = 64;

// A text with its escapes resolved, as pieces of which is known where in the original they came from.
class Decoded {
 public:
  void AddPlain(std::string_view bytes, std::size_t from) {
    if (!bytes.empty()) Add(bytes, {.at = text_.size(), .from = from, .length = 0});
  }
  void AddEscape(std::string_view bytes, std::size_t from, std::size_t length) {
    Add(bytes, {.at = text_.size(), .from = from, .length = length});
  }
  const std::string& text() const { return text_; }
  // Where in the original what stands here begins and ends.
  Span InOriginal(const Span& span) const {
    const Piece& last = PieceAt(span.end - 1);
    const std::size_t end = last.length > 0 ? last.from + last.length : last.from + (span.end - last.at);
    const Piece& first = PieceAt(span.begin);
    const std::size_t begin = first.length > 0 ? first.from : first.from + (span.begin - first.at);
    return {.begin = begin, .end = end, .secret = span.secret};
  }

 private:
  struct Piece {
    std::size_t at;      // where it stands in text_
    std::size_t from;    // and in the original
    std::size_t length;  // of an escape, there; 0: a piece without any
  };
  void Add(std::string_view bytes, Piece piece) {
    text_ += bytes;
    pieces_.push_back(piece);
  }
  const Piece& PieceAt(std::size_t at) const {
    const auto behind = std::upper_bound(pieces_.begin(), pieces_.end(), at,
                                         [](std::size_t place, const Piece& piece) { return place < piece.at; });
    return *std::prev(behind);
  }

  std::string text_;
  std::vector<Piece> pieces_;
};

std::optional<unsigned> HexAt(std::string_view text, std::size_t at, std::size_t digits) {
  if (at + digits > text.size()) return std::nullopt;
  unsigned value = 0;
  for (const char c : text.substr(at, digits)) {
    const unsigned digit = c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
                           : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a' + 10)
                           : c >= 'A' && c <= 'F' ? static_cast<unsigned>(c - 'A' + 10)
                                                  : 16;
    if (digit == 16) return std::nullopt;
    value = value << 4U | digit;
  }
  return value;
}

std::string Utf8Of(unsigned c) {
  const auto tail = [c](unsigned shift) { return static_cast<char>(0x80U | ((c >> shift) & 0x3FU)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xC0U | c >> 6U), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xE0U | c >> 12U), tail(6), tail(0)};
  return {static_cast<char>(0xF0U | c >> 18U), tail(12), tail(6), tail(0)};
}

// The \uXXXX at `at`, or both of a surrogate pair.
struct Escape {
  std::string bytes;
  std::size_t length = 0;
};
std::optional<Escape> UnicodeEscape(std::string_view text, std::size_t at) {
  const auto unit = text.substr(at, 2) == "\\u" ? HexAt(text, at + 2, 4) : std::nullopt;
  if (!unit) return std::nullopt;
  const bool is_high = *unit >= 0xD800 && *unit < 0xDC00;
  const auto low = is_high && text.substr(at + 6, 2) == "\\u" ? HexAt(text, at + 8, 4) : std::nullopt;
  if (!low || *low < 0xDC00 || *low >= 0xE000) return Escape{Utf8Of(*unit), 6};
  return Escape{Utf8Of(0x10000U + ((*unit - 0xD800U) << 10U) + (*low - 0xDC00U)), 12};
}

std::optional<Escape> EscapeAt(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size()) return std::nullopt;
  if (auto escape = UnicodeEscape(text, at)) return escape;
  if (const auto byte = text[at + 1] == 'x' ? HexAt(text, at + 2, 2) : std::nullopt) {
    return Escape{std::string(1, static_cast<char>(*byte)), 4};
  }
  constexpr std::string_view kLetters = "nrtbf\"\\/'";
  constexpr std::string_view kMeanings = "\n\r\t\b\f\"\\/'";
  const std::size_t letter = kLetters.find(text[at + 1]);
  if (letter == std::string_view::npos) return std::nullopt;
  return Escape{std::string(1, kMeanings[letter]), 2};
}

std::optional<Escape> PercentAt(std::string_view text, std::size_t at) {
  const auto byte = HexAt(text, at + 1, 2);
  if (!byte) return std::nullopt;
  return Escape{std::string(1, static_cast<char>(*byte)), 3};
}

// An end of a line is an escape of nothing.
std::optional<Escape> LineBreakAt(std::string_view /*text*/, std::size_t /*at*/) { return Escape{"", 1}; }

// `mark`: what escapes begin with.
Decoded Decode(std::string_view text, char mark, std::optional<Escape> (*escape_at)(std::string_view, std::size_t)) {
  Decoded decoded;
  std::size_t plain = 0;
  for (std::size_t i = text.find(mark); i != std::string_view::npos; i = text.find(mark, i)) {
    const auto escape = escape_at(text, i);
    if (!escape) {
      ++i;
      continue;
    }
    // The two ends of a line are one.
    const bool is_pair = mark == '\n' && i > plain && text[i - 1] == '\r';
    decoded.AddPlain(text.substr(plain, i - plain - (is_pair ? 1 : 0)), plain);
    if (!escape->bytes.empty()) decoded.AddEscape(escape->bytes, i, escape->length);
    i += escape->length;
    plain = i;
  }
  decoded.AddPlain(text.substr(plain), plain);
  return decoded;
}

// The characters that `value` gives in base64 wherever it stands in what is encoded, in both alphabets.
void AddBase64(SecretSet& set, std::string_view value, std::size_t secret) {
  for (std::size_t before = 0; before < 3; ++before) {
    const std::string encoded = Base64(std::string(before, '\0') + std::string(value));
    const std::size_t first = (before * 8 + 5) / 6;
    const std::size_t last = (before + value.size()) * 8 / 6;
    std::string own = encoded.substr(first, last - first);
    set.Add(own, secret);
    std::replace(own.begin(), own.end(), '+', '-');
    std::replace(own.begin(), own.end(), '/', '_');
    set.Add(own, secret);
  }
}

std::string ShownFor(const Secret& secret, const std::vector<Secret>& all) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  };
  const bool can_be_shown = !secret.name.empty() && secret.name.size() <= kLongestName &&
                            std::all_of(secret.name.begin(), secret.name.end(), is_plain) &&
                            std::none_of(all.begin(), all.end(), [&secret](const Secret& other) {
                              return !other.value.empty() && secret.name.find(other.value) != std::string::npos;
                            });
  return can_be_shown ? "[redacted:" + secret.name + "]" : std::string(kRedacted);
}

}  // namespace

Redactor::Redactor(const std::vector<Secret>& secrets) {
  for (const Secret& secret : secrets) {
    const std::size_t number = shown_.size();
    shown_.push_back(ShownFor(secret, secrets));
    if (secret.value.size() < SecretSet::kShortest) continue;
    set_.Add(secret.value, number);
    AddBase64(set_, secret.value, number);
    set_.Add(Decode(secret.value, '\n', LineBreakAt).text(), number);
  }
  set_.Finish();
}

void Redactor::FindEncoded(std::string_view text, Ending ending, std::vector<Span>& found) const {
  if (set_.empty()) return;
  const auto look = [&](char mark, std::optional<Escape> (*escape_at)(std::string_view, std::size_t)) {
    if (text.find(mark) == std::string_view::npos) return;
    const Decoded decoded = Decode(text, mark, escape_at);
    std::vector<Span> spans;
    set_.Find(decoded.text(), ending, spans);
    for (const Span& span : spans) found.push_back(decoded.InOriginal(span));
  };
  look('%', PercentAt);
  look('\\', EscapeAt);
  look('\n', LineBreakAt);
}

std::string Redactor::Hide(std::string_view text, Ending ending) const {
  std::vector<Span> found;
  set_.Find(text, ending, found);
  FindEncoded(text, ending, found);
  FindKeyShapes(text, ending, found);
  std::sort(found.begin(), found.end(),
            [](const Span& a, const Span& b) { return a.begin != b.begin ? a.begin < b.begin : a.secret < b.secret; });
  std::string out;
  std::size_t at = 0;
  for (std::size_t i = 0; i < found.size();) {
    Span whole = found[i];
    for (++i; i < found.size() && found[i].begin < whole.end; ++i) {
      whole.end = std::max(whole.end, found[i].end);
      if (whole.secret == kNoSecret) whole.secret = found[i].secret;
    }
    out += text.substr(at, whole.begin - at);
    out += whole.secret == kNoSecret ? kRedacted : shown_[whole.secret];
    at = whole.end;
  }
  out += text.substr(at);
  return out;
}

}  // namespace caisson::record
