#include "caisson/policy/grant_set.h"

#include <gtest/gtest.h>

#include "caisson/policy/program_index_fixture.h"

namespace caisson::policy {
namespace {

using plan::FileGrant;
using plan::kExecuteFile;
using plan::kReadFile;
using plan::kReadFolder;
using plan::kWriteFile;

TEST(GrantSetTest, AddsRightsUpByPathAndReach) {
  const os::ProgramIndex index;
  GrantSet set(index);
  set.Add("/b", kReadFile);
  set.Add("/b", kWriteFile);
  set.Add("/b", kReadFolder, FileGrant::Reach::kItself);
  set.Add("/a", kReadFile);
  const std::vector<FileGrant> expected = {
      {.path = "/a", .rights = kReadFile, .reach = FileGrant::Reach::kBelow},
      {.path = "/b", .rights = kReadFolder, .reach = FileGrant::Reach::kItself},
      {.path = "/b", .rights = kReadFile | kWriteFile, .reach = FileGrant::Reach::kBelow},
  };
  EXPECT_EQ(set.Take(), expected);
  EXPECT_TRUE(set.Take().empty()) << "they are taken";
}

TEST(GrantSetTest, AProgramMayBeReadAndExecutedButIsNoFolder) {
  const os::ProgramIndex index;
  GrantSet set(index);
  set.AddProgram("/usr/bin/ls");
  EXPECT_EQ(set.Take(),
            (std::vector<FileGrant>{
                {.path = "/usr/bin/ls", .rights = kExecuteFile | kReadFile, .reach = FileGrant::Reach::kItself}}));
}

TEST(GrantSetTest, ReadingGoesAroundPrograms) {
  const ImageIndex image = SmallImage();
  GrantSet set(image.index());
  set.AddReading("/usr");
  const std::vector<FileGrant> grants = set.Take();
  for (const std::string& program : image.index().programs) {
    EXPECT_EQ(RightsAt(grants, program) & kReadFile, 0U) << program;
    EXPECT_EQ(RightsAt(grants, program) & kExecuteFile, 0U) << program;
  }
  for (const char* file : {"/usr/lib/libc.so.6", "/usr/share/doc/x", "/usr/share/doc"}) {
    EXPECT_NE(RightsAt(grants, file) & kReadFile, 0U) << file;
  }
  EXPECT_NE(RightsAt(grants, "/usr/bin") & kReadFolder, 0U);
  EXPECT_EQ(RightsAt(grants, "/etc/passwd"), 0U);
}

TEST(GrantSetTest, ReadingAFolderWithoutProgramsIsOneGrant) {
  const ImageIndex image = SmallImage();
  GrantSet set(image.index());
  set.AddReading("/home/agent");
  EXPECT_EQ(set.Take(),
            (std::vector<FileGrant>{
                {.path = "/home/agent", .rights = kReadFile | kReadFolder, .reach = FileGrant::Reach::kBelow}}));
}

TEST(GrantSetTest, ReadingOfTheRootGoesAroundProgramsToo) {
  const ImageIndex image = SmallImage().Data("/home").Data("/tmp");
  GrantSet set(image.index());
  set.AddReading("/");
  const std::vector<FileGrant> grants = set.Take();
  EXPECT_EQ(RightsAt(grants, "/usr/bin/rm") & kReadFile, 0U);
  EXPECT_NE(RightsAt(grants, "/home/agent/x") & kReadFile, 0U);
  EXPECT_NE(RightsAt(grants, "/tmp/x") & kReadFile, 0U);
  EXPECT_NE(RightsAt(grants, "/") & kReadFolder, 0U);
}

TEST(GrantSetTest, ReadingAProgramGrantsNothing) {
  const ImageIndex image = SmallImage();
  GrantSet set(image.index());
  set.AddReading("/usr/bin/rm");
  EXPECT_TRUE(set.Take().empty());
}

}  // namespace
}  // namespace caisson::policy
