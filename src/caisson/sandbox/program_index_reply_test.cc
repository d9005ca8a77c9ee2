#include "caisson/sandbox/program_index_reply.h"

#include <gtest/gtest.h>

#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace caisson::sandbox {
namespace {

void AddName(proto::ProgramIndex& message, const std::string& name, const std::string& path,
             const std::string& interpreter = {}, const std::string& argument = {}) {
  proto::ProgramIndex::Entry& entry = *message.add_names();
  entry.set_name(name);
  entry.set_path(path);
  entry.set_real_path("/opt" + path);
  entry.set_interpreter(interpreter);
  entry.set_argument(argument);
}

void AddFolder(proto::ProgramIndex& message, const std::string& path, const std::vector<std::string>& children) {
  proto::ProgramIndex::Folder& folder = *message.add_split();
  folder.set_path(path);
  for (const std::string& child : children) folder.add_children(child);
}

proto::ProgramIndex FullMessage() {
  proto::ProgramIndex message;
  AddName(message, "a b", "/bin/\xFF\n");
  AddName(message, "tool", "/usr/local/bin/tool");
  AddName(message, "tool", "/bin/tool", "/usr/bin/env", "python3");
  AddFolder(message, "/", {"bin", "usr"});
  AddFolder(message, "/bin", {});
  AddFolder(message, "/usr", {"...", ".hidden"});
  for (const char* program : {"/bin/a b", "/bin/x", "/usr/..."}) message.add_programs(program);
  message.add_loaders("/lib/ld.so");
  for (const char* root : {"/usr", "/bin"}) message.add_roots(root);
  return message;
}

// The index, when this is changed in the message of a full one.
Result<os::ProgramIndex> Changed(const std::function<void(proto::ProgramIndex&)>& change) {
  proto::ProgramIndex message = FullMessage();
  change(message);
  return ReadProgramIndex(message.SerializeAsString());
}

bool IsRefused(const std::function<void(proto::ProgramIndex&)>& change) {
  const auto index = Changed(change);
  return !index && index.error().code() == Code::kUnavailable;
}

TEST(ReadProgramIndexTest, ReadsWhatIsWritten) {
  const auto index = ReadProgramIndex(FullMessage().SerializeAsString());
  ASSERT_TRUE(index);
  ASSERT_EQ(index->by_name.size(), 3U);
  const auto [tool, end] = index->by_name.equal_range("tool");
  const os::ProgramIndex::Entry first{
      .path = "/usr/local/bin/tool", .real_path = "/opt/usr/local/bin/tool", .interpreter = {}, .argument = {}};
  const os::ProgramIndex::Entry second{
      .path = "/bin/tool", .real_path = "/opt/bin/tool", .interpreter = "/usr/bin/env", .argument = "python3"};
  EXPECT_TRUE(tool->second == first) << "the order of the search path";
  EXPECT_TRUE(std::next(tool)->second == second);
  EXPECT_EQ(index->by_name.find("a b")->second.path, "/bin/\xFF\n");
  EXPECT_EQ(index->programs, (std::vector<std::string>{"/bin/a b", "/bin/x", "/usr/..."}));
  EXPECT_EQ(index->loaders, std::vector<std::string>{"/lib/ld.so"});
  EXPECT_EQ(index->roots, (std::vector<std::string>{"/usr", "/bin"}));
  const std::map<std::string, std::vector<std::string>> split = {
      {"/", {"bin", "usr"}}, {"/bin", {}}, {"/usr", {"...", ".hidden"}}};
  EXPECT_EQ(index->split, split);
}

TEST(ReadProgramIndexTest, RefusesWhatIsNoPath) {
  for (const std::string& text :
       {std::string(), std::string("bin/x"), std::string("/bin/../x"), std::string("/.."), std::string("/."),
        std::string("/bin/./x"), std::string("/bin/."), std::string("//bin"), std::string("/bin//x"),
        std::string("/bin/"), std::string("//"), std::string("/bin/x\0y", 8), std::string("\0", 1)}) {
    EXPECT_TRUE(IsRefused([&](auto& message) { message.mutable_names(0)->set_path(text); })) << text;
    EXPECT_TRUE(IsRefused([&](auto& message) { message.mutable_names(0)->set_real_path(text); })) << text;
    if (!text.empty()) {
      EXPECT_TRUE(IsRefused([&](auto& message) { message.mutable_names(0)->set_interpreter(text); })) << text;
    }
    const auto alone = [&](auto& list) {
      list.Clear();
      *list.Add() = text;
    };
    EXPECT_TRUE(IsRefused([&](auto& message) { alone(*message.mutable_programs()); })) << text;
    EXPECT_TRUE(IsRefused([&](auto& message) { alone(*message.mutable_loaders()); })) << text;
    EXPECT_TRUE(IsRefused([&](auto& message) { alone(*message.mutable_roots()); })) << text;
    EXPECT_TRUE(IsRefused([&](auto& message) { message.mutable_split(0)->set_path(text); })) << text;
  }
}

TEST(ReadProgramIndexTest, RefusesWhatIsNoName) {
  for (const std::string& text : {std::string(), std::string("."), std::string(".."), std::string("a/b"),
                                  std::string("/"), std::string("a\0b", 3)}) {
    EXPECT_TRUE(IsRefused([&](auto& message) { message.mutable_names(0)->set_name(text); })) << text;
    EXPECT_TRUE(IsRefused([&](auto& message) { message.mutable_split(0)->set_children(0, text); })) << text;
  }
}

// They are searched as sorted lists, where one out of order would not be found and so be taken for no program.
TEST(ReadProgramIndexTest, RefusesWhatIsOutOfOrder) {
  EXPECT_TRUE(IsRefused([](auto& message) { message.mutable_programs()->SwapElements(0, 1); }));
  EXPECT_TRUE(IsRefused([](auto& message) { *message.add_loaders() = "/a"; }));
}

// Of the two lists of what is in it, one would be lost.
TEST(ReadProgramIndexTest, RefusesAFolderTwice) {
  EXPECT_TRUE(IsRefused([](auto& message) { *message.add_split() = message.split(0); }));
  EXPECT_TRUE(Changed([](auto& message) { *message.add_programs() = "/usr/..."; }))
      << "a program twice is the same program";
}

TEST(ReadProgramIndexTest, RefusesWhatIsNoMessage) {
  const std::string whole = FullMessage().SerializeAsString();
  EXPECT_FALSE(ReadProgramIndex("\xFF\xFF\xFF"));
  EXPECT_FALSE(ReadProgramIndex(whole.substr(0, whole.size() - 1)));
  EXPECT_TRUE(ReadProgramIndex("")) << "an image without anything";
}

}  // namespace
}  // namespace caisson::sandbox
