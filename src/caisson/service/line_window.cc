#include "caisson/service/line_window.h"

#include <algorithm>
#include <utility>

#include "caisson/base/utf8.h"

namespace caisson::service {

bool LineWindow::Feed(std::string_view bytes) {
  while (!bytes.empty() && !is_full_) {
    const std::size_t length = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
    TakePart(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return !is_full_;
}

tool::FileText LineWindow::Take(Seen seen) {
  tool::FileText text;
  text.first_line = first_;
  text.is_cut = is_cut_;
  const bool has_open_line = kept_.size() > whole_;
  text.lines = line_ - std::min(first_, line_) + (has_open_line ? 1 : 0);
  if (is_full_ || seen == Seen::kTheBeginning) text.next_line = first_ + text.lines;
  text.bytes = std::move(kept_);
  return text;
}

void LineWindow::TakePart(std::string_view part) {
  if (line_ >= end_) {
    is_full_ = true;
    return;
  }
  if (line_ >= first_) Keep(part);
  if (is_full_ || part.back() != '\n') return;
  ++line_;
  whole_ = kept_.size();
}

void LineWindow::Keep(std::string_view part) {
  if (kept_.size() + part.size() <= most_.value) {
    kept_ += part;
    return;
  }
  is_full_ = true;
  if (whole_ > 0) {
    kept_.resize(whole_);  // the next call begins with this line
    return;
  }
  kept_ += part.substr(0, most_.value - kept_.size());
  kept_.resize(WholeUtf8Length(kept_));
  is_cut_ = true;
}

}  // namespace caisson::service
