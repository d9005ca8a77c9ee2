#include <cstdint>

#include "caisson/document/toml_scalar.h"

namespace caisson::document {
namespace {

void AppendUtf8(std::string& out, std::uint32_t code) {
  const auto add = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0U | code >> 6U);
    add(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    add(0xE0U | code >> 12U);
    add(0x80U | (code >> 6U & 0x3FU));
    add(0x80U | (code & 0x3FU));
  } else {
    add(0xF0U | code >> 18U);
    add(0x80U | (code >> 12U & 0x3FU));
    add(0x80U | (code >> 6U & 0x3FU));
    add(0x80U | (code & 0x3FU));
  }
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class TextReader {
 public:
  TextReader(TomlCursor& cursor, char quote, bool is_long) : cursor_(cursor), quote_(quote), is_long_(is_long) {}

  Result<std::string> Run() {
    if (is_long_ && cursor_.IsAtLineBreak()) cursor_.TakeLineBreak();
    while (!cursor_.is_at_end()) {
      const char c = cursor_.Peek();
      if (c == quote_ && Close()) return std::move(text_);
      if (c == quote_) continue;  // one that belongs to a long text was taken
      CAISSON_CHECK_OK(TakeOne(c));
    }
    return Fail(cursor_.Mistake("the file ends in a text"));
  }

 private:
  // At a quote: ends the text, or takes those that belong to a long one. Up to two stand before the closing three.
  bool Close() {
    if (!is_long_) {
      cursor_.Take();
      return true;
    }
    std::size_t count = 0;
    while (count < 5 && cursor_.Peek(count) == quote_) ++count;
    const std::size_t own = count < 3 ? count : count - 3;
    text_.append(own, quote_);
    cursor_.Skip(count);
    return count >= 3;
  }

  Status TakeOne(char c) {
    if (cursor_.IsAtLineBreak()) {
      if (!is_long_) return Fail(cursor_.Mistake("a text in single quotes ends in its line; one in three goes on"));
      if (c == '\r') text_ += cursor_.Take();
      text_ += cursor_.Take();
      return {};
    }
    if (IsForbiddenControl(c)) return Fail(cursor_.Mistake("a text holds no control character; write an escape"));
    if (c == '\\' && quote_ == '"') return TakeEscape();
    text_ += cursor_.Take();
    return {};
  }

  Status TakeEscape() {
    const Place begin = cursor_.place();
    cursor_.Take();
    const char c = cursor_.Peek();
    constexpr std::string_view kLetters = "btnfr\"\\";
    constexpr std::string_view kMeanings = "\b\t\n\f\r\"\\";
    if (const std::size_t found = c == '\0' ? std::string_view::npos : kLetters.find(c);
        found != std::string_view::npos) {
      cursor_.Take();
      text_ += kMeanings[found];
      return {};
    }
    if (c == 'u' || c == 'U') return TakeCode(begin, c == 'u' ? 4 : 8);
    if (is_long_ && TakeLineContinuation()) return {};
    return Fail(cursor_.MistakeOf(begin, "there is no such escape; a backslash itself is written \\\\"));
  }

  Status TakeCode(const Place& begin, int digits) {
    cursor_.Take();
    std::uint32_t code = 0;
    for (int i = 0; i < digits; ++i) {
      const int digit = HexDigit(cursor_.Peek());
      if (digit < 0) return Fail(cursor_.MistakeOf(begin, "this escape needs " + std::to_string(digits) + " digits"));
      code = code << 4U | static_cast<std::uint32_t>(digit);
      cursor_.Take();
    }
    if (code == 0) return Fail(cursor_.MistakeOf(begin, "there is a zero byte"));
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
      return Fail(cursor_.MistakeOf(begin, "there is no such character"));
    }
    AppendUtf8(text_, code);
    return {};
  }

  // A backslash at the end of a line: the text goes on at the next character that is no space.
  bool TakeLineContinuation() {
    std::size_t ahead = 0;
    while (cursor_.Peek(ahead) == ' ' || cursor_.Peek(ahead) == '\t') ++ahead;
    if (cursor_.Peek(ahead) != '\n' && !(cursor_.Peek(ahead) == '\r' && cursor_.Peek(ahead + 1) == '\n')) return false;
    for (;;) {
      cursor_.SkipSpace();
      if (!cursor_.IsAtLineBreak()) return true;
      cursor_.TakeLineBreak();
    }
  }

  TomlCursor& cursor_;
  char quote_;
  bool is_long_;
  std::string text_;
};

}  // namespace

Error TomlCursor::Expected(std::string_view what) const {
  std::string there = "the file ends";
  if (IsAtLineBreak()) {
    there = "the line ends";
  } else if (!is_at_end()) {
    std::size_t length = 1;
    while ((static_cast<unsigned char>(Peek(length)) & 0xC0U) == 0x80U) ++length;
    there = "there is '" + std::string(rest().substr(0, length)) + "'";
  }
  return Mistake("expected " + std::string(what) + ", but " + there);
}

Result<std::string> TakeTomlText(TomlCursor& cursor, Lines lines) {
  const char quote = cursor.Take();
  const bool is_long = cursor.Peek() == quote && cursor.Peek(1) == quote;
  if (is_long && lines == Lines::kOne) return Fail(cursor.Mistake("a key stands in single quotes"));
  if (is_long) cursor.Skip(2);
  return TextReader(cursor, quote, is_long).Run();
}

}  // namespace caisson::document
