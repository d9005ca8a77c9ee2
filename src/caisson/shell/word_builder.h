#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "caisson/base/utf8.h"
#include "caisson/shell/shell.h"

namespace caisson::shell {

// A word as it is read, piece by piece: what it is literally, and from where on it is not.
class WordBuilder {
 public:
  // A byte that quotes protect.
  void Quoted(char c) { Append(c); }
  // From $'...': may be what no text holds.
  void Decoded(char c) {
    Append(c);
    is_decoded_ = true;
  }
  // A byte outside quotes, which may begin a glob, a brace expansion or a tilde.
  void Plain(char c);
  void Expansion() { ExpandFrom(literal_.size()); }
  void Joined() { is_joined_ = true; }

  // A line continuation lies in it: bash joins the lines before it decides what the word is.
  bool is_joined() const { return is_joined_; }

  Word Finish(std::string source);

 private:
  static constexpr std::size_t kNone = std::string::npos;

  void Append(char c) {
    if (c == ']' && bracket_ != kNone) ExpandFrom(bracket_);
    literal_ += c;
    last_plain_ = '\0';
  }
  void ExpandFrom(std::size_t at) { expanded_ = std::min(expanded_, at); }

  std::string literal_;
  std::size_t expanded_ = kNone;  // where the first expansion begins
  std::size_t bracket_ = kNone;   // of the first [
  std::size_t brace_ = kNone;     // of the first {
  bool has_choice_ = false;       // a comma or .. after it
  char last_plain_ = '\0';
  bool is_joined_ = false;
  bool is_decoded_ = false;
};

inline void WordBuilder::Plain(char c) {
  const std::size_t at = literal_.size();
  const char before = last_plain_;
  const bool may_be_home = c == '~' && (at == 0 || literal_.back() == '=' || literal_.back() == ':');
  if (may_be_home || c == '*' || c == '?') ExpandFrom(at);
  if (c == '}' && has_choice_) ExpandFrom(brace_);
  Append(c);
  last_plain_ = c;
  if (c == '[') bracket_ = std::min(bracket_, at);
  if (c == '{') brace_ = std::min(brace_, at);
  has_choice_ = has_choice_ || (brace_ != kNone && (c == ',' || (c == '.' && before == '.')));
}

inline Word WordBuilder::Finish(std::string source) {
  Word word{.value = {}, .source = std::move(source), .known_prefix = {}};
  // Bash marks its own with these two bytes, and what is not UTF-8 is no text for anybody who reads the value.
  const bool is_odd = is_decoded_ && (!IsUtf8(literal_) || literal_.find_first_of("\x01\x7F") != std::string::npos);
  if (is_odd) return word;
  if (expanded_ == kNone) {
    word.value = std::move(literal_);
  } else {
    word.known_prefix = literal_.substr(0, expanded_);
  }
  return word;
}

}  // namespace caisson::shell
