#include "caisson/shell/scan.h"

namespace caisson::shell {

char Scan::Take() {
  const char c = Peek();
  Skip(1);
  return c;
}

bool Scan::TakeIf(std::string_view prefix) {
  if (!StartsWith(prefix)) return false;
  Skip(prefix.size());
  return true;
}

bool Scan::TakeIf(char c) {
  if (AtEnd() || Peek() != c) return false;
  Skip(1);
  return true;
}

std::size_t Scan::OffsetOf(std::size_t position) const {
  if (offsets_ == nullptr) return position;
  if (offsets_->empty()) return 0;
  return position < offsets_->size() ? (*offsets_)[position] : offsets_->back();
}

void Scan::CheckInnerNewline() {
  if (!pending.empty() || pending_outside) Fail("a line that ends inside a word before a here-document");
}

}  // namespace caisson::shell
