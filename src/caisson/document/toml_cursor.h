#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "caisson/document/document.h"
#include "caisson/document/mistake.h"

namespace caisson::document {

// Goes through a text byte by byte and knows where it is. The text is UTF-8 without a zero byte.
class TomlCursor {
 public:
  TomlCursor(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  bool is_at_end() const { return at_ == text_.size(); }
  // The byte so far ahead; a zero byte: the end.
  char Peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  std::string_view rest() const { return text_.substr(at_); }

  char Take() {
    const char c = text_[at_++];
    if (c == '\n') {
      place_ = {place_.line + 1, 1};
    } else if ((static_cast<unsigned char>(Peek()) & 0xC0U) != 0x80U) {
      ++place_.column;  // the next byte begins a character
    }
    return c;
  }
  void Skip(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) Take();
  }
  bool TakeIf(char expected) {
    if (Peek() != expected) return false;
    Take();
    return true;
  }
  void SkipSpace() {
    while (Peek() == ' ' || Peek() == '\t') Take();
  }
  bool IsAtLineBreak() const { return Peek() == '\n' || (Peek() == '\r' && Peek(1) == '\n'); }
  void TakeLineBreak() { Skip(Peek() == '\r' ? 2 : 1); }

  const Place& place() const { return place_; }
  Error Mistake(std::string_view what) const { return MistakeAt(name_, place_, what); }
  Error MistakeOf(const Place& place, std::string_view what) const { return MistakeAt(name_, place, what); }
  // `what` was expected; says what is there.
  Error Expected(std::string_view what) const;

 private:
  std::string_view text_;
  std::string_view name_;
  std::size_t at_ = 0;
  Place place_{1, 1};
};

// A control character that TOML allows neither in a comment nor in a text.
inline bool IsForbiddenControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7F;
}

}  // namespace caisson::document
