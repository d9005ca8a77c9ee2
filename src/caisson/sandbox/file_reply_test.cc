#include "caisson/sandbox/file_reply.h"

#include <gtest/gtest.h>

#include <string>

namespace caisson::sandbox {
namespace {

CapturedOutput Saying(const proto::FileReply& reply) {
  CapturedOutput output;
  output.kept = reply.SerializeAsString();
  output.total_bytes = output.kept.size();
  return output;
}

proto::FileReply Complete() {
  proto::FileReply reply;
  reply.set_complete(true);
  return reply;
}

TEST(FileReply, GivesTheEntriesOfAFolder) {
  proto::FileReply reply = Complete();
  proto::FileEntry& entry = *reply.add_entries();
  entry.set_name("..almost");
  entry.set_mode(0104755);
  const auto read = ReadFileReply(Saying(reply), "/tmp");
  ASSERT_TRUE(read);
  const std::vector<FileEntry> entries = EntriesOf(*read);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].name, "..almost");
  EXPECT_EQ(entries[0].type, FileType::kFile);
  EXPECT_EQ(entries[0].mode, 04755U);
}

TEST(FileReply, RefusesAnEntryThatNoFolderHas) {
  for (const std::string& name : {std::string(), std::string("."), std::string(".."), std::string("../../etc/passwd"),
                                  std::string("/etc"), std::string("a\0b", 3)}) {
    proto::FileReply reply = Complete();
    reply.add_entries()->set_name(name);
    const auto read = ReadFileReply(Saying(reply), "/tmp");
    ASSERT_FALSE(read) << name;
    EXPECT_EQ(read.error().code(), Code::kUnavailable);
  }
}

TEST(FileReply, RefusesWhatWasCutOff) {
  EXPECT_FALSE(ReadFileReply(Saying(proto::FileReply()), "/tmp"));
  CapturedOutput output = Saying(Complete());
  output.truncated = true;
  EXPECT_FALSE(ReadFileReply(output, "/tmp"));
}

TEST(FileReply, SaysAStepShortAndSafely) {
  proto::FileReply reply = Complete();
  reply.set_error(13);
  reply.set_step("\x1b[2J\xff" + std::string(10'000, 'x'));
  const auto read = ReadFileReply(Saying(reply), "/tmp");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), Code::kPermissionDenied);
  EXPECT_EQ(read.error().message().find('\x1b'), std::string::npos);
  EXPECT_LT(read.error().message().size(), 200U);
}

}  // namespace
}  // namespace caisson::sandbox
