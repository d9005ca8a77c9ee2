#include "caisson/base/sha256.h"

#include <gtest/gtest.h>

#include <string>

namespace caisson {
namespace {

std::string Hex(const Sha256& sum) {
  std::string text;
  for (const std::uint8_t byte : sum) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0xFU];
  }
  return text;
}

// Source of the sums: FIPS 180-2, appendix B.
TEST(Sha256, OfKnownTexts) {
  EXPECT_EQ(Hex(Sha256Of("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Hex(Sha256Of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256, OfPieces) {
  constexpr int kPieces = 1000;
  Sha256Sum sum;
  for (int i = 0; i < kPieces; ++i) sum.Add(std::string(1000, 'a'));
  EXPECT_EQ(Hex(sum.Finish()), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, IsTheSameOnlyWhenAllOfItIs) {
  const Sha256 sum = Sha256Of("x");
  EXPECT_TRUE(SameInConstantTime(sum, Sha256Of("x")));
  for (std::size_t i = 0; i < sum.size(); ++i) {
    Sha256 other = sum;
    other.at(i) ^= 1U;
    EXPECT_FALSE(SameInConstantTime(sum, other));
  }
}

}  // namespace
}  // namespace caisson
