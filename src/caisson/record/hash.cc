#include "caisson/record/hash.h"

#include <algorithm>

namespace caisson::record {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

std::string HexOf(const Sha256& hash) {
  std::string text;
  text.reserve(2 * hash.size());
  for (const std::uint8_t byte : hash) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0xFU];
  }
  return text;
}

std::optional<Sha256> ReadHex(std::string_view text) {
  Sha256 hash{};
  if (text.size() != 2 * hash.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t digit = kDigits.find(text[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    hash[i / 2] = static_cast<std::uint8_t>(static_cast<std::size_t>(hash[i / 2]) << 4U | digit);
  }
  return hash;
}

}  // namespace caisson::record
