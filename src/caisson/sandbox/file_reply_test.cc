#include "caisson/sandbox/file_reply.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

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

TEST(FileReply, SaysWhatIsWrongWithAPattern) {
  proto::FileReply reply = Complete();
  reply.set_error(22);
  reply.set_step("pattern");
  reply.set_content("missing ): \x1b[2J(" + std::string(10'000, 'x'));
  const auto read = ReadFileReply(Saying(reply), "/tmp");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), Code::kInvalidArgument);
  EXPECT_TRUE(read.error().cause().starts_with("missing ): \\x1b[2J(xxx")) << read.error().cause();
  EXPECT_LT(read.error().cause().size(), 400U);
}

proto::FileEntry& Add(proto::FileReply& reply, const std::string& name, std::uint32_t depth, std::uint32_t mode) {
  proto::FileEntry& entry = *reply.add_entries();
  entry.set_name(name);
  entry.set_depth(depth);
  entry.set_mode(mode);
  reply.set_seen(reply.seen() + 1);
  return entry;
}

constexpr std::uint32_t kFolder = 0040755;
constexpr std::uint32_t kFile = 0100644;

TEST(FileReply, GivesTheTreeWithPaths) {
  proto::FileReply reply = Complete();
  Add(reply, "a", 1, kFolder);
  Add(reply, "b", 2, kFolder);
  Add(reply, "\n\xff", 3, kFile).set_size(7);
  Add(reply, "c", 2, kFolder).set_is_unreadable(true);
  Add(reply, "b", 1, 0120777).set_link_target("a");
  reply.set_seen(12);
  reply.set_truncated(true);
  const auto tree = TreeOf(reply, 3, 5);
  ASSERT_TRUE(tree);
  EXPECT_TRUE(tree->truncated);
  EXPECT_EQ(tree->seen, 12U);
  std::vector<std::string> paths;
  for (const TreeEntry& entry : tree->entries) paths.push_back(entry.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"a", "a/b", "a/b/\n\xff", "a/c", "b"}));
  EXPECT_EQ(tree->entries[2].size_bytes, 7U);
  EXPECT_EQ(tree->entries[2].mode, 0644U);
  EXPECT_TRUE(tree->entries[3].is_unreadable);
  EXPECT_EQ(tree->entries[4].type, FileType::kSymlink);
  EXPECT_EQ(tree->entries[4].link_target, "a");
  EXPECT_FALSE(TreeOf(reply, 2, 5)) << "deeper than was asked for";
  EXPECT_FALSE(TreeOf(reply, 3, 4)) << "more than was asked for";
}

TEST(FileReply, RefusesWhatIsNoTree) {
  const struct {
    const char* why;
    std::vector<std::tuple<const char*, std::uint32_t, std::uint32_t>> entries;
  } cases[] = {{"no depth", {{"a", 0, kFile}}},
               {"in no folder", {{"a", 2, kFile}}},
               {"below a file", {{"a", 1, kFile}, {"b", 2, kFile}}},
               {"a level is missing", {{"a", 1, kFolder}, {"b", 3, kFile}}},
               {"below a folder that is left", {{"a", 1, kFolder}, {"b", 1, kFile}, {"c", 2, kFile}}},
               {"twice", {{"a", 1, kFile}, {"a", 1, kFile}}},
               {"out of order", {{"b", 1, kFolder}, {"x", 2, kFile}, {"a", 1, kFile}}}};
  for (const auto& c : cases) {
    proto::FileReply reply = Complete();
    for (const auto& [name, depth, mode] : c.entries) Add(reply, name, depth, mode);
    const auto tree = TreeOf(reply, 16, 10'000);
    ASSERT_FALSE(tree) << c.why;
    EXPECT_EQ(tree.error().code(), Code::kUnavailable);
  }
  proto::FileReply reply = Complete();
  Add(reply, std::string(256, 'n'), 1, kFile);
  EXPECT_FALSE(TreeOf(reply, 1, 1)) << "a name that no folder has";
  reply.clear_entries();
  Add(reply, "a", 1, kFolder).set_is_unreadable(true);
  Add(reply, "b", 2, kFile);
  EXPECT_FALSE(TreeOf(reply, 16, 9)) << "what cannot be read has no entries";
  reply.set_seen(1);
  EXPECT_FALSE(TreeOf(reply, 16, 9)) << "fewer seen than given";
}

}  // namespace
}  // namespace caisson::sandbox
