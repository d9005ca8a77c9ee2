#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "caisson/base/deadline.h"

namespace re2 {
class RE2;
}

namespace caisson::guest {

enum class LetterCase { kMatters, kIgnored };

// Finds the lines of files that match a regular expression. A match never reaches over the end of a line; `^` and `$`
// are the ends of a line. Time linear in the file. Memory: 256 KiB, or the longest line if that is more.
class LineSearch {
 public:
  // Source of the syntax: https://github.com/google/re2/wiki/Syntax.
  LineSearch(const std::string& pattern, LetterCase letters);
  ~LineSearch();
  LineSearch(const LineSearch&) = delete;
  LineSearch& operator=(const LineSearch&) = delete;

  // What is wrong with the pattern, in words of RE2. Then nothing may be searched. Empty: nothing is.
  const std::string& pattern_error() const { return error_; }

  struct Line {
    std::uint64_t number;  // from 1
    std::uint64_t column;  // from 1, in bytes, of the first match
    std::string_view text;
  };
  // False: no more are wanted.
  using Found = std::function<bool(const Line&)>;
  enum class Outcome {
    kSearched,
    kStopped,  // by `found`, or by the deadline
    kBinary,   // a zero byte in the first 8 KiB
    kTooLarge,
    kUnreadable,
  };
  // From the current offset of a regular file, 0. `size`: what fstat(2) says; it may change meanwhile.
  Outcome Search(int file, std::uint64_t size, const Deadline& deadline, const Found& found);

  static constexpr std::uint64_t kMaxFile = std::uint64_t{64} << 20U;

 private:
  struct Place;
  Outcome SearchLines(std::size_t end, Place& place, const Deadline& deadline, const Found& found) const;

  std::string error_;
  std::unique_ptr<re2::RE2> pattern_;
  std::string buffer_;
};

}  // namespace caisson::guest
