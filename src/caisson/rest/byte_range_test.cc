#include "caisson/rest/byte_range.h"

#include <gtest/gtest.h>

namespace caisson::rest {
namespace {

void ExpectPart(std::string_view field, std::uint64_t size, std::uint64_t offset, std::uint64_t length) {
  const auto range = ParseByteRange(field);
  ASSERT_TRUE(range) << field;
  const auto part = PartOf(*range, size);
  ASSERT_TRUE(part) << field;
  EXPECT_EQ(part->offset, offset) << field;
  EXPECT_EQ(part->length, length) << field;
}

TEST(ByteRange, FindsThePart) {
  ExpectPart("bytes=0-0", 10, 0, 1);
  ExpectPart("bytes=2-5", 10, 2, 4);
  ExpectPart("bytes=2-500", 10, 2, 8);
  ExpectPart("bytes=9-", 10, 9, 1);
  ExpectPart("bytes=-3", 10, 7, 3);
  ExpectPart("bytes=-30", 10, 0, 10);
}

TEST(ByteRange, HasNoPartPastTheEnd) {
  EXPECT_FALSE(PartOf(*ParseByteRange("bytes=10-"), 10));
  EXPECT_FALSE(PartOf(*ParseByteRange("bytes=0-"), 0));
  EXPECT_FALSE(PartOf(*ParseByteRange("bytes=-0"), 10));
  EXPECT_FALSE(PartOf(*ParseByteRange("bytes=-5"), 0));
}

TEST(ByteRange, PassesOverOtherForms) {
  for (const char* field : {"", "bytes", "bytes=", "bytes=-", "bytes=5-2", "bytes=a-b", "bytes=0-1,3-4", "lines=1-2",
                            "bytes=1-2 ", "bytes= 1-2", "bytes=--1", "bytes=0-99999999999999999999", "Bytes=0-1"}) {
    EXPECT_FALSE(ParseByteRange(field)) << field;
  }
}

}  // namespace
}  // namespace caisson::rest
