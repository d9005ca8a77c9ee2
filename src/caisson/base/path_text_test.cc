#include "caisson/base/path_text.h"

#include <gtest/gtest.h>

namespace caisson {
namespace {

TEST(NormalPathTest, TakesAwayWhatSaysNothing) {
  EXPECT_EQ(NormalPath("/w", "a/./b//c"), "/w/a/b/c");
  EXPECT_EQ(NormalPath("/w", "../../../etc"), "/etc");
  EXPECT_EQ(NormalPath("/w", "/usr/../bin/"), "/bin");
  EXPECT_EQ(NormalPath("/w", "/.."), "/");
  EXPECT_EQ(NormalPath("/", ""), "/");
  EXPECT_TRUE(IsNormalPath("/"));
  EXPECT_TRUE(IsNormalPath("/a/b"));
  for (const char* path : {"", "a", "/a/", "//", "/a//b", "/.", "/a/..", "/a/./b"})
    EXPECT_FALSE(IsNormalPath(path)) << path;
  EXPECT_EQ(FolderOf("/x"), "/");
  EXPECT_EQ(FolderOf("/x/y"), "/x");
  EXPECT_EQ(LastPart("/x/y"), "y");
}

TEST(IsBelowTest, ComparesWholeParts) {
  EXPECT_TRUE(IsBelow("/usr", "/usr"));
  EXPECT_TRUE(IsBelow("/usr/bin", "/usr"));
  EXPECT_TRUE(IsBelow("/usr", "/"));
  EXPECT_TRUE(IsBelow("/", "/"));
  EXPECT_FALSE(IsBelow("/usrx", "/usr"));
  EXPECT_FALSE(IsBelow("/us", "/usr"));
  EXPECT_FALSE(IsBelow("/", "/usr"));
  EXPECT_FALSE(IsBelow("usr", "/"));
}

TEST(IsEntryNameTest, IsOnePart) {
  for (const char* name : {"a", "...", ".a", "a b"}) EXPECT_TRUE(IsEntryName(name)) << name;
  for (const std::string_view name : {std::string_view(), std::string_view("."), std::string_view(".."),
                                      std::string_view("a/b"), std::string_view("a\0b", 3)}) {
    EXPECT_FALSE(IsEntryName(name)) << name;
  }
}

}  // namespace
}  // namespace caisson
