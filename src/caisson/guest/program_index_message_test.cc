#include "caisson/guest/program_index_message.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace caisson::guest {
namespace {

TEST(WriteProgramIndexTest, WritesEverythingInItsOrder) {
  os::ProgramIndex index;
  index.by_name.emplace(
      "tool",
      os::ProgramIndex::Entry{.path = "/usr/bin/tool", .real_path = "/opt/tool", .interpreter = {}, .argument = {}});
  index.by_name.emplace(
      "tool",
      os::ProgramIndex::Entry{
          .path = "/bin/tool", .real_path = "/bin/tool\xFF", .interpreter = "/usr/bin/env", .argument = "python3"});
  index.programs = {"/a", "/b"};
  index.loaders = {"/lib/ld.so"};
  index.split = {{"/", {"bin", "usr"}}, {"/bin", {}}};
  index.roots = {"/usr", "/bin"};
  const proto::ProgramIndex message = WriteProgramIndex(index);
  ASSERT_EQ(message.names_size(), 2);
  EXPECT_EQ(message.names(0).name(), "tool");
  EXPECT_EQ(message.names(0).path(), "/usr/bin/tool");
  EXPECT_EQ(message.names(0).real_path(), "/opt/tool");
  EXPECT_EQ(message.names(0).interpreter(), "");
  EXPECT_EQ(message.names(1).path(), "/bin/tool");
  EXPECT_EQ(message.names(1).real_path(), "/bin/tool\xFF");
  EXPECT_EQ(message.names(1).interpreter(), "/usr/bin/env");
  EXPECT_EQ(message.names(1).argument(), "python3");
  EXPECT_EQ(std::vector<std::string>(message.programs().begin(), message.programs().end()), index.programs);
  EXPECT_EQ(std::vector<std::string>(message.loaders().begin(), message.loaders().end()), index.loaders);
  EXPECT_EQ(std::vector<std::string>(message.roots().begin(), message.roots().end()), index.roots);
  ASSERT_EQ(message.split_size(), 2);
  EXPECT_EQ(message.split(0).path(), "/");
  EXPECT_EQ(message.split(0).children(1), "usr");
  EXPECT_EQ(message.split(1).path(), "/bin");
  EXPECT_EQ(message.split(1).children_size(), 0);
}

TEST(WriteProgramIndexTest, OfNothingIsEmpty) { EXPECT_EQ(WriteProgramIndex({}).SerializeAsString(), ""); }

}  // namespace
}  // namespace caisson::guest
