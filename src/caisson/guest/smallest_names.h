#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace caisson::guest {

// The smallest of any number of names, in the order of their bytes. Time: n log k; memory: k names.
class SmallestNames {
 public:
  explicit SmallestNames(std::size_t most) : most_(most) {}

  void Add(std::string_view name);
  // Whether there were more.
  bool left_out() const { return left_out_; }
  // In their order. Nothing is added afterwards.
  std::vector<std::string> Take();

 private:
  std::size_t most_;
  bool left_out_ = false;
  std::vector<std::string> heap_;  // the largest first
};

}  // namespace caisson::guest
