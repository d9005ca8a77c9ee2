#include "caisson/rest/byte_range.h"

#include <algorithm>

#include "caisson/base/units.h"

namespace caisson::rest {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62U;

}  // namespace

std::optional<ByteRange> ParseByteRange(std::string_view field) {
  constexpr std::string_view kUnit = "bytes=";
  if (!field.starts_with(kUnit)) return std::nullopt;
  field.remove_prefix(kUnit.size());
  const std::size_t dash = field.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  ByteRange range;
  const std::string_view first = field.substr(0, dash);
  const std::string_view last = field.substr(dash + 1);
  if (!first.empty()) {
    const auto number = ParseCount(first, "range", 0, kMostBytes);
    if (!number) return std::nullopt;
    range.first = *number;
  }
  if (!last.empty()) {
    const auto number = ParseCount(last, "range", 0, kMostBytes);
    if (!number) return std::nullopt;
    range.last = *number;
  }
  if (!range.first && !range.last) return std::nullopt;
  if (range.first && range.last && *range.last < *range.first) return std::nullopt;
  return range;
}

std::optional<FilePart> PartOf(const ByteRange& range, std::uint64_t size) {
  if (!range.first) {
    const std::uint64_t length = std::min(range.last.value_or(0), size);
    if (length == 0) return std::nullopt;
    return FilePart{size - length, length};
  }
  if (*range.first >= size) return std::nullopt;
  const std::uint64_t last = std::min(range.last.value_or(size - 1), size - 1);
  return FilePart{*range.first, last - *range.first + 1};
}

}  // namespace caisson::rest
