#include "caisson/guest/line_search.h"

#include <re2/re2.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace caisson::guest {
namespace {

constexpr std::size_t kBuffer = 256U << 10U;
constexpr std::size_t kLookedAtForZero = 8U << 10U;

re2::RE2::Options OptionsFor(LetterCase letters) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_never_nl(true);
  options.set_never_capture(true);
  options.set_case_sensitive(letters == LetterCase::kMatters);
  return options;
}

ssize_t ReadSome(int file, char* to, std::size_t size) {
  while (true) {
    const ssize_t n = read(file, to, size);
    if (n >= 0 || errno != EINTR) return n;
  }
}

// A loop over memchr(3) is quicker than one over bytes.
std::uint64_t CountLines(std::string_view text) {
  std::uint64_t lines = 0;
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) ++lines;
  return lines;
}

}  // namespace

// How far a file has been searched.
struct LineSearch::Place {
  std::size_t begin = 0;  // in the buffer: the first line that has not been searched
  std::uint64_t line = 1;
};

LineSearch::LineSearch(const std::string& pattern, LetterCase letters)
    : pattern_(std::make_unique<re2::RE2>("(?m)" + pattern, OptionsFor(letters))) {
  // What is wrong is told of the pattern as it was given.
  if (!pattern_->ok()) error_ = re2::RE2(pattern, OptionsFor(letters)).error();
  if (!pattern_->ok() && error_.empty()) error_ = pattern_->error();
}

LineSearch::~LineSearch() = default;

LineSearch::Outcome LineSearch::Search(int file, std::uint64_t size, const Deadline& deadline, const Found& found) {
  if (size > kMaxFile) return Outcome::kTooLarge;
  if (buffer_.empty()) buffer_.resize(kBuffer);
  Place place;
  std::size_t held = 0;
  std::uint64_t total = 0;
  for (bool has_ended = false; !has_ended;) {
    if (held == buffer_.size()) buffer_.resize(2 * held);
    const ssize_t n = ReadSome(file, &buffer_[held], buffer_.size() - held);
    if (n < 0) return Outcome::kUnreadable;
    const std::string_view came(&buffer_[held], static_cast<std::size_t>(n));
    if (total == 0 && came.substr(0, kLookedAtForZero).find('\0') != came.npos) return Outcome::kBinary;
    held += came.size();
    total += came.size();
    if (total > kMaxFile) return Outcome::kTooLarge;
    has_ended = n == 0 || total == size;
    const std::size_t newline = came.rfind('\n');
    if (!has_ended && newline == came.npos) continue;
    const std::size_t end = has_ended ? held : held - came.size() + newline + 1;
    if (SearchLines(end, place, deadline, found) == Outcome::kStopped) return Outcome::kStopped;
    if (has_ended) break;
    // With the newline before it, so that the rest is seen not to begin the file.
    std::memmove(buffer_.data(), &buffer_[end - 1], held - end + 1);
    held = held - end + 1;
    place.begin = 1;
  }
  return Outcome::kSearched;
}

LineSearch::Outcome LineSearch::SearchLines(std::size_t end, Place& place, const Deadline& deadline,
                                            const Found& found) const {
  const std::string_view text(buffer_.data(), end);
  while (place.begin < end) {
    if (deadline.Passed()) return Outcome::kStopped;
    re2::StringPiece match;
    if (!pattern_->Match(text, place.begin, end, re2::RE2::UNANCHORED, &match, 1)) break;
    const auto start = static_cast<std::size_t>(match.data() - text.data());
    if (start == end && text.back() == '\n') break;  // behind the last line is none
    const std::string_view before = text.substr(place.begin, start - place.begin);
    place.line += CountLines(before);
    const std::size_t line_begin = place.begin + (before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1);
    const std::size_t line_end = std::min(text.find('\n', start), end);
    if (!found({place.line, start - line_begin + 1, text.substr(line_begin, line_end - line_begin)})) {
      return Outcome::kStopped;
    }
    place.begin = line_end + 1;
    ++place.line;
  }
  if (place.begin < end) place.line += CountLines(text.substr(place.begin));
  return Outcome::kSearched;
}

}  // namespace caisson::guest
