#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/base/result.h"

namespace caisson::cli {

// What a copy did and did not. Value type.
class CopyReport {
 public:
  void Copied(std::uint64_t bytes) {
    ++files_;
    bytes_ += bytes;
  }
  // Something that a copy does not carry, by its path and why.
  void LeftOut(std::string_view path, std::string_view why);
  // An error about one entry, after which the rest is copied all the same. False for one that would meet every other
  // entry, too.
  bool Passes(const Error& error);

  // A line for what was copied, then what was left out: at most kMostNamed by name.
  std::vector<std::string> Lines() const;
  // Of the command: 0, 1 when something was left out, 3 when something failed.
  int Status() const;

 private:
  static constexpr std::size_t kMostNamed = 10;
  void Name(std::string line);

  std::uint64_t files_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t left_out_ = 0;
  std::uint64_t failed_ = 0;
  std::vector<std::string> named_;
};

}  // namespace caisson::cli
