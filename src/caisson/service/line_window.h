#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "caisson/base/units.h"
#include "caisson/tool/data.h"

namespace caisson::service {

// Takes some lines out of a text that comes in pieces. Pure; private to the module.
class LineWindow {
 public:
  // `count` lines from `first`, which is 1 or more; at most `most` bytes of them: whole lines, unless one is longer.
  LineWindow(std::uint64_t first, std::uint64_t count, Bytes most) : first_(first), end_(first + count), most_(most) {}

  // The next piece. Whether more is needed.
  bool Feed(std::string_view bytes);

  // Whether the pieces were all of the text.
  enum class Seen : std::uint8_t { kTheBeginning, kToTheEnd };
  // Once: the lines, and where to go on. Path, size and digest are the caller's to fill in.
  tool::FileText Take(Seen seen);

 private:
  void TakePart(std::string_view part);
  void Keep(std::string_view part);

  std::uint64_t first_;
  std::uint64_t end_;  // the line after the last
  Bytes most_;
  std::uint64_t line_ = 1;
  std::string kept_;
  std::size_t whole_ = 0;  // of kept_: whole lines
  bool is_full_ = false;
  bool is_cut_ = false;
};

}  // namespace caisson::service
