#include "caisson/guest/smallest_names.h"

#include <algorithm>
#include <utility>

namespace caisson::guest {

void SmallestNames::Add(std::string_view name) {
  if (heap_.size() < most_) {
    heap_.emplace_back(name);
    std::push_heap(heap_.begin(), heap_.end());
    return;
  }
  left_out_ = true;
  if (heap_.empty() || name >= heap_.front()) return;
  std::pop_heap(heap_.begin(), heap_.end());
  heap_.back() = name;
  std::push_heap(heap_.begin(), heap_.end());
}

std::vector<std::string> SmallestNames::Take() {
  std::sort_heap(heap_.begin(), heap_.end());
  return std::exchange(heap_, {});
}

}  // namespace caisson::guest
