#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::audit {

// Reads a file line by line in bounded memory.
class LineReader {
 public:
  enum class What {
    kLine,     // text() is a line without its newline
    kTooLong,  // a line over record::kLongestLine, which was passed over
    kTorn,     // what stands behind the last newline
    kEnd,
  };

  explicit LineReader(os::Fd file) : file_(std::move(file)) {}

  // Errors: those of read(2).
  Result<What> Next();
  // Until the next call of Next().
  std::string_view text() const { return text_; }
  // Of the last line read, from 1.
  std::uint64_t number() const { return number_; }

 private:
  Result<bool> Fill();  // false: the end

  os::Fd file_;
  std::string buffer_;
  std::size_t at_ = 0;  // where the next line begins in the buffer
  std::string_view text_;
  std::uint64_t number_ = 0;
};

}  // namespace caisson::audit
