#include "caisson/storage/kept_record.h"

#include <gtest/gtest.h>

#include "caisson/os/identity.h"

namespace caisson::storage {
namespace {

std::string Record(std::uint32_t version, std::uint32_t first_id) {
  proto::KeptSandbox record;
  record.set_version(version);
  record.set_first_id(first_id);
  record.set_image_directory("/srv/image");
  return record.SerializeAsString();
}

TEST(KeptRecord, IsReadAsItWasWritten) {
  for (const std::uint32_t block : {1U, os::kUidBlocks - 1}) {
    const auto record = ReadKeptRecord(Record(kKeptVersion, os::kFirstUid + block * os::kUidsPerBlock));
    ASSERT_TRUE(record) << block;
    EXPECT_EQ(record->image_directory(), "/srv/image");
  }
}

TEST(KeptRecord, RefusesIdsThatAreNotThoseOfABlock) {
  for (const std::uint32_t id : {0U, 1000U, os::kFirstUid, os::kEngineUid, os::kFirstUid + os::kUidsPerBlock + 1,
                                 os::kFirstUid + os::kUidBlocks * os::kUidsPerBlock}) {
    EXPECT_FALSE(ReadKeptRecord(Record(kKeptVersion, id))) << id;
  }
}

TEST(KeptRecord, RefusesAnotherVersion) {
  EXPECT_FALSE(ReadKeptRecord(Record(kKeptVersion + 1, os::kFirstUid + os::kUidsPerBlock)));
  EXPECT_FALSE(ReadKeptRecord("\xff"));
}

}  // namespace
}  // namespace caisson::storage
