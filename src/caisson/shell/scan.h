#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/shell/findings.h"

namespace caisson::shell {

// A here-document whose body begins after the next newline.
struct HereDocument {
  std::string delimiter;
  bool is_quoted = false;    // the body is data
  bool strips_tabs = false;  // <<-
};

// Text that was taken out of other text with some bytes left out, and where each of its bytes stands in the whole.
struct Extract {
  std::string text;
  std::vector<std::uint32_t> offsets;
};

// A place in the text, or in an extract of it, and what is found from there. After a failure it is at its end, so that
// every loop over it ends.
class Scan {
 public:
  Scan(std::string_view text, Findings& findings) : text_(text), findings_(findings) {}
  Scan(const Extract& extract, Findings& findings)
      : text_(extract.text), offsets_(&extract.offsets), findings_(findings) {}

  // '\0', which no text holds, at the end.
  char Peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() && !findings_.failed() ? text_[at_ + ahead] : '\0';
  }
  char Previous() const { return at_ > 0 ? text_[at_ - 1] : '\0'; }
  bool AtEnd() const { return Peek() == '\0'; }
  bool StartsWith(std::string_view prefix) const { return Rest().starts_with(prefix); }
  std::string_view Rest() const { return findings_.failed() ? std::string_view() : text_.substr(at_); }

  char Take();
  void Skip(std::size_t count) { at_ = at_ + count < text_.size() ? at_ + count : text_.size(); }
  bool TakeIf(std::string_view prefix);
  bool TakeIf(char c);

  std::size_t position() const { return at_; }
  std::string_view Since(std::size_t position) const { return text_.substr(position, at_ - position); }
  std::size_t Offset() const { return OffsetOf(at_); }
  std::size_t OffsetOf(std::size_t position) const;

  void Fail(std::string what) { findings_.Fail(std::move(what), Offset()); }
  bool failed() const { return findings_.failed(); }
  Findings& findings() { return findings_; }

  // A newline inside a word or a construct that is read as part of one: where the body of a here-document would begin
  // then is not proved.
  void CheckInnerNewline();

  std::vector<HereDocument> pending;
  bool pending_outside = false;  // around the substitution that is read
  // Of the substitution that is read: bash prints its commands and reads what it printed, which goes wrong for arrays,
  // `time` and all but the simplest here-documents. 0: the text is read as it stands.
  std::size_t substitution_depth = 0;
  std::size_t documents = 0;  // announced in it

 private:
  std::string_view text_;
  const std::vector<std::uint32_t>* offsets_ = nullptr;
  Findings& findings_;
  std::size_t at_ = 0;
};

// One more construct around what is read.
class Level {
 public:
  explicit Level(Scan& scan) : findings_(scan.findings()) { findings_.Enter(scan.Offset()); }
  ~Level() { findings_.Leave(); }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  Findings& findings_;
};

}  // namespace caisson::shell
