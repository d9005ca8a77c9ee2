#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace caisson::rest {

// The bytes that a field `Range` asks for. Source: RFC 9110, 14.
struct ByteRange {
  std::optional<std::uint64_t> first;
  std::optional<std::uint64_t> last;  // inclusive; without `first`: so many at the end
};

// "bytes=0-99", "bytes=100-", "bytes=-100". Nothing for every other form: such a field is passed over, and the whole
// file is the answer. That goes for several ranges, too.
std::optional<ByteRange> ParseByteRange(std::string_view field);

// The part of a file of `size` bytes.
struct FilePart {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;  // at least 1
};
// Nothing when no byte of the file is in the range: 416.
std::optional<FilePart> PartOf(const ByteRange& range, std::uint64_t size);

}  // namespace caisson::rest
