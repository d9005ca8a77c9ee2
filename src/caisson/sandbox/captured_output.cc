#include "caisson/sandbox/captured_output.h"

#include <fcntl.h>

#include <algorithm>

namespace caisson::sandbox {

void OutputCapture::Append(std::string_view data) {
  const std::size_t room = limit_ - std::min(limit_, output_.kept.size());
  output_.total_bytes += data.size();
  if (spool_ == Spool::kKeep && output_.total_bytes > limit_) {
    if (!output_.spool.valid() && spooled_ == 0) {
      output_.spool.Reset(openat(spool_directory_, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
      if (!output_.spool.valid()) spooled_ = kSpoolLimit.value;  // not later: it would start in the middle
      AppendToSpool(output_.kept);
    }
    AppendToSpool(data);
  }
  output_.kept.append(data.substr(0, room));
  if (data.size() > room) AppendToTail(data.substr(room));
}

void OutputCapture::AppendToTail(std::string_view data) {
  std::string& tail = output_.tail;
  if (data.size() >= kTailLimit.value) {
    tail.assign(data.substr(data.size() - kTailLimit.value));
    return;
  }
  // Cut only at twice the limit, so that small pieces do not move the whole each time.
  if (tail.size() + data.size() > 2 * kTailLimit.value) tail.erase(0, tail.size() - kTailLimit.value + data.size());
  tail.append(data);
}

void OutputCapture::AppendToSpool(std::string_view data) {
  const std::string_view part = data.substr(0, std::min<std::uint64_t>(data.size(), kSpoolLimit.value - spooled_));
  if (!output_.spool.valid() || part.empty()) return;
  if (os::WriteAll(output_.spool.get(), part)) {
    spooled_ += part.size();
  } else {
    spooled_ = kSpoolLimit.value;
  }
}

CapturedOutput OutputCapture::Take() && {
  output_.truncated = output_.total_bytes > output_.kept.size();
  std::string& tail = output_.tail;
  if (tail.size() > kTailLimit.value) tail.erase(0, tail.size() - kTailLimit.value);
  return std::move(output_);
}

}  // namespace caisson::sandbox
