#include "caisson/policy/helper_table.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace caisson::policy {
namespace {

bool Has(std::string_view program, std::string_view helper) {
  const std::vector<std::string_view> helpers = HelpersOf(program);
  return std::find(helpers.begin(), helpers.end(), helper) != helpers.end();
}

TEST(HelpersOfTest, NamesWhatProgramsStartByThemselves) {
  EXPECT_TRUE(Has("git", "/usr/lib/git-core/**"));
  EXPECT_TRUE(Has("gcc", "as"));
  EXPECT_TRUE(Has("gcc", "ld"));
  EXPECT_TRUE(Has("gcc", "/usr/lib/gcc/**"));
  EXPECT_TRUE(Has("pip", "python3"));
  EXPECT_TRUE(Has("npm", "node"));
  EXPECT_TRUE(Has("cargo", "rustc"));
}

TEST(HelpersOfTest, OfMostProgramsThereAreNone) {
  for (const char* program : {"ls", "", "GIT", "git-upload-pack", "/usr/bin/git", "python3"}) {
    EXPECT_TRUE(HelpersOf(program).empty()) << program;
  }
}

TEST(HelpersOfTest, NoneIsAProgramThatDestroysOrSends) {
  for (const char* program : {"git", "gcc", "cmake", "java", "go", "cargo", "npm", "pip"}) {
    for (const char* helper : {"rm", "curl", "ssh", "sudo", "bash", "sh", "/usr/bin/**", "/**"}) {
      EXPECT_FALSE(Has(program, helper)) << program << " " << helper;
    }
  }
}

}  // namespace
}  // namespace caisson::policy
