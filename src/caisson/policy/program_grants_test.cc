#include "caisson/policy/program_grants.h"

#include <gtest/gtest.h>

#include "caisson/policy/program_index_fixture.h"

namespace caisson::policy {
namespace {

using Words = std::vector<std::string>;

class ProgramGrantsTest : public testing::Test {
 protected:
  // The files that may be executed when these commands may run, without the basis.
  Words Allow(const Words& commands, const Words& helpers = {}) {
    GrantSet set(image_.index());
    ProgramGrants programs(image_.index(), denied_, set);
    for (const std::string& command : commands) programs.AllowCommand(command, helpers);
    checked_ = programs.CheckNames();
    return Executable(set);
  }
  static Words Executable(GrantSet& set) {
    Words files;
    for (const plan::FileGrant& grant : set.Take()) {
      const bool is_there = !grant.path.starts_with("/usr/libexec/");
      if ((grant.rights & plan::kExecuteFile) == 0 || !is_there) continue;
      EXPECT_NE(grant.rights & plan::kReadFile, 0U) << grant.path;
      files.push_back(grant.path + (grant.reach == plan::FileGrant::Reach::kBelow ? "/**" : ""));
    }
    return files;
  }

  ImageIndex image_ = SmallImage();
  std::set<std::string> denied_;
  Status checked_;
};

TEST_F(ProgramGrantsTest, ANameIsItsFile) {
  EXPECT_EQ(Allow({"ls"}), Words{"/usr/bin/ls"});
  EXPECT_EQ(Allow({"python3"}), Words{"/usr/bin/python3.11"}) << "with links followed";
  EXPECT_EQ(Allow({"nothing"}), Words{});
  EXPECT_TRUE(checked_);
}

TEST_F(ProgramGrantsTest, ANameIsEveryFileOfTheSearchPath) {
  image_.Program("/usr/local/bin/ls");
  EXPECT_EQ(Allow({"ls"}), (Words{"/usr/bin/ls", "/usr/local/bin/ls"}));
}

TEST_F(ProgramGrantsTest, AScriptNeedsItsInterpreter) {
  EXPECT_EQ(Allow({"pip"}), (Words{"/usr/bin/pip", "/usr/bin/python3.11"}));
  EXPECT_EQ(Allow({"tool"}), (Words{"/usr/bin/env", "/usr/bin/python3.11", "/usr/bin/tool"})) << "through env";
}

TEST_F(ProgramGrantsTest, AnOptionOfEnvIsNoProgram) {
  image_.Script("/usr/bin/other", "/usr/bin/env", "-S");
  EXPECT_EQ(Allow({"other"}), (Words{"/usr/bin/env", "/usr/bin/other"}));
}

TEST_F(ProgramGrantsTest, AnAbsolutePathIsTheSameFileWithTheSameNeeds) {
  EXPECT_EQ(Allow({"/usr/bin/ls"}), Words{"/usr/bin/ls"});
  EXPECT_EQ(Allow({"/usr/bin/pip"}), (Words{"/usr/bin/pip", "/usr/bin/python3.11"}));
  EXPECT_EQ(Allow({"/usr/bin/python3"}), Words{"/usr/bin/python3.11"});
  EXPECT_EQ(Allow({"/usr/bin/git"}), (Words{"/usr/bin/git", "/usr/lib/git-core/**"}));
  EXPECT_EQ(Allow({"/usr/lib/git-core/git-remote"}), Words{"/usr/lib/git-core/git-remote"}) << "beside the search path";
}

TEST_F(ProgramGrantsTest, HelpersAreNamesFilesFoldersAndPatterns) {
  EXPECT_EQ(Allow({"git"}), (Words{"/usr/bin/git", "/usr/lib/git-core/**"})) << "of the table";
  EXPECT_EQ(Allow({"ls"}, {"python3", "/opt/tool"}), (Words{"/opt/tool", "/usr/bin/ls", "/usr/bin/python3.11"}));
  EXPECT_EQ(Allow({"ls"}, {"/opt/a/**"}), (Words{"/opt/a/**", "/usr/bin/ls"}));
  EXPECT_EQ(Allow({"ls"}, {"git"}), (Words{"/usr/bin/git", "/usr/bin/ls", "/usr/lib/git-core/**"})) << "and theirs";
  image_.Hidden("/opt/v-1/bin/a").Hidden("/opt/v-1/lib/b").Hidden("/opt/w/bin/c");
  EXPECT_EQ(Allow({"ls"}, {"/opt/v-*/bin/**"}), (Words{"/opt/v-1/bin/a", "/usr/bin/ls"}));
  EXPECT_EQ(Allow({"ls"}, {"/opt/*/bin/*"}), (Words{"/opt/v-1/bin/a", "/opt/w/bin/c", "/usr/bin/ls"}));
  EXPECT_EQ(Allow({"ls"}, {"/**"}), (Words{"//**", "/usr/bin/ls"}));
}

TEST_F(ProgramGrantsTest, HelpersThatNameEachOtherEnd) {
  image_.Program("/usr/bin/cmake").Program("/usr/bin/ctest");
  EXPECT_EQ(Allow({"cmake"}), (Words{"/usr/bin/cmake", "/usr/bin/ctest"}));
  image_.Script("/usr/bin/self", "/usr/bin/env", "self");
  EXPECT_EQ(Allow({"self"}), (Words{"/usr/bin/env", "/usr/bin/self"}));
}

TEST_F(ProgramGrantsTest, ADeniedNameIsNeitherCommandNorHelper) {
  denied_ = {"rm"};
  EXPECT_EQ(Allow({"rm"}, {"ls"}), Words{}) << "nor does its rule let its helpers run";
  EXPECT_EQ(Allow({"ls"}, {"rm"}), Words{"/usr/bin/ls"});
  EXPECT_EQ(Allow({"/usr/bin/rm"}), Words{});
  EXPECT_EQ(Allow({"ls"}, {"/usr/bin/rm"}), Words{"/usr/bin/ls"});
}

TEST_F(ProgramGrantsTest, ADeniedFileHasNoOtherName) {
  image_.Link("/usr/bin/remove", "/usr/bin/rm").Link("/usr/bin/python", "/usr/bin/python3.11");
  denied_ = {"rm", "python"};
  EXPECT_EQ(Allow({"remove", "python3"}), Words{});
  EXPECT_EQ(Allow({"pip"}), Words{"/usr/bin/pip"}) << "without its interpreter it does not run";
  EXPECT_EQ(Allow({"tool"}), (Words{"/usr/bin/env", "/usr/bin/tool"}));
}

TEST_F(ProgramGrantsTest, ADeniedPathIsNoName) {
  denied_ = {"/usr/bin/rm"};
  EXPECT_EQ(Allow({"rm", "ls"}), Words{"/usr/bin/ls"});
  image_.Link("/usr/local/bin/delete", "/usr/bin/rm");
  denied_ = {"/usr/local/bin/delete"};
  EXPECT_EQ(Allow({"rm"}), Words{}) << "it is the same file";
  denied_ = {"/usr/lib/git-core/git-remote"};
  EXPECT_EQ(Allow({"git"}), Words{"/usr/bin/git"}) << "of the folder's programs, those that are not denied";
}

TEST_F(ProgramGrantsTest, ADeniedProgramIsTakenOutOfAHelperFolder) {
  image_.Link("/usr/bin/git-remote", "/usr/lib/git-core/git-remote").Hidden("/usr/lib/git-core/git-log");
  denied_ = {"git-remote"};
  EXPECT_EQ(Allow({"git"}), (Words{"/usr/bin/git", "/usr/lib/git-core/git-log"}));
}

TEST_F(ProgramGrantsTest, TheBasisIsLoadersAndShells) {
  GrantSet set(image_.index());
  ProgramGrants programs(image_.index(), denied_, set);
  programs.AllowBasis();
  EXPECT_EQ(Executable(set), (Words{"/usr/bin/bash", "/usr/lib/ld.so"}));
}

TEST_F(ProgramGrantsTest, ManyProgramsInOneFileAreAllowedTogetherOrNotAtAll) {
  image_ = ImageIndex();
  image_.Program("/bin/busybox").Link("/bin/sh", "/bin/busybox").Link("/bin/ls", "/bin/busybox").Program("/bin/git");
  (void)Allow({"git"});
  EXPECT_TRUE(checked_) << "none of them is allowed";
  (void)Allow({"ls", "sh"});
  ASSERT_FALSE(checked_);
  EXPECT_EQ(checked_.error().code(), Code::kUnsupported);
  EXPECT_NE(checked_.error().message().find("'ls'"), std::string::npos) << checked_.error().message();
  EXPECT_NE(checked_.error().message().find("'busybox'"), std::string::npos) << checked_.error().message();
  EXPECT_NE(checked_.error().message().find("/bin/busybox"), std::string::npos);
  EXPECT_FALSE(checked_.error().remediation().empty());
  (void)Allow({"ls", "sh", "busybox"});
  EXPECT_TRUE(checked_);
  (void)Allow({"/bin/busybox"});
  EXPECT_FALSE(checked_) << "its path is no way around";
  (void)Allow({"git"}, {"ls"});
  EXPECT_FALSE(checked_) << "nor is being a helper";
}

}  // namespace
}  // namespace caisson::policy
