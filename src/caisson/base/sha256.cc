#include "caisson/base/sha256.h"

#include <sha2.h>

#include <cstddef>
#include <new>

namespace caisson {

static_assert(sizeof(SHA2_CTX) <= 256 && alignof(SHA2_CTX) <= 8);
static_assert(SHA256_DIGEST_LENGTH == sizeof(Sha256));

Sha256Sum::Sha256Sum() { SHA256Init(new (state_.data()) SHA2_CTX); }

void Sha256Sum::Add(std::string_view bytes) {
  auto* const context = std::launder(reinterpret_cast<SHA2_CTX*>(state_.data()));
  SHA256Update(context, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

Sha256 Sha256Sum::Finish() {
  Sha256 sum{};
  SHA256Final(sum.data(), std::launder(reinterpret_cast<SHA2_CTX*>(state_.data())));
  return sum;
}

Sha256 Sha256Of(std::string_view bytes) {
  Sha256Sum sum;
  sum.Add(bytes);
  return sum.Finish();
}

std::string Hex(const Sha256& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

bool SameInConstantTime(const Sha256& a, const Sha256& b) {
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace caisson
