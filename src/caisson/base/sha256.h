#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace caisson {

using Sha256 = std::array<std::uint8_t, 32>;

// SHA-256 of bytes that come in pieces. Source: FIPS 180-4.
class Sha256Sum {
 public:
  Sha256Sum();
  void Add(std::string_view bytes);
  // Once, after which nothing is added.
  Sha256 Finish();

 private:
  // As many bytes as the state takes, so that its type stays out of here.
  alignas(8) std::array<std::uint8_t, 256> state_;
};

Sha256 Sha256Of(std::string_view bytes);

// 64 small hexadecimal digits.
std::string Hex(const Sha256& digest);

// Takes the same time wherever they differ: for what a stranger must not guess bit by bit.
bool SameInConstantTime(const Sha256& a, const Sha256& b);

}  // namespace caisson
