#include "caisson/audit/line_reader.h"

#include <unistd.h>

#include <cerrno>

#include "caisson/record/limits.h"

namespace caisson::audit {

Result<bool> LineReader::Fill() {
  constexpr std::size_t kStep = 64UL << 10U;
  buffer_.erase(0, at_);
  at_ = 0;
  const std::size_t used = buffer_.size();
  buffer_.resize(used + kStep);
  ssize_t count = 0;
  do {
    count = read(file_.get(), buffer_.data() + used, kStep);
  } while (count < 0 && errno == EINTR);
  buffer_.resize(used + static_cast<std::size_t>(count < 0 ? 0 : count));
  if (count < 0) return Fail(Error::FromErrno(errno, "cannot read an audit file"));
  return count > 0;
}

Result<LineReader::What> LineReader::Next() {
  text_ = {};
  bool is_too_long = false;
  std::size_t searched = 0;
  while (true) {
    const std::size_t end = buffer_.find('\n', at_ + searched);
    if (end != std::string::npos) {
      ++number_;
      text_ = std::string_view(buffer_).substr(at_, end - at_);
      at_ = end + 1;
      if (!is_too_long && text_.size() <= record::kLongestLine) return What::kLine;
      text_ = {};
      return What::kTooLong;
    }
    if (buffer_.size() - at_ > record::kLongestLine) {
      is_too_long = true;
      at_ = buffer_.size();
    }
    searched = buffer_.size() - at_;
    CAISSON_TRY(const bool has_more, Fill());
    if (has_more) continue;
    if (searched == 0 && !is_too_long) return What::kEnd;
    ++number_;
    at_ = buffer_.size();
    return is_too_long ? What::kTooLong : What::kTorn;
  }
}

}  // namespace caisson::audit
