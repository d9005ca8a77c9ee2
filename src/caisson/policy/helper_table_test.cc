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

TEST(HelperPathMatchesTest, TakesPartsStarsAndTrees) {
  struct Case {
    const char* pattern;
    const char* path;
    bool matches;
  };
  for (const auto& [pattern, path, matches] : std::vector<Case>{
           {"/usr/bin/x", "/usr/bin/x", true},
           {"/usr/bin/x", "/usr/bin/xy", false},
           {"/usr/bin/x", "/usr/bin", false},
           {"/usr/bin", "/usr/bin/x", false},
           {"/usr/lib/git-core/**", "/usr/lib/git-core/git", true},
           {"/usr/lib/git-core/**", "/usr/lib/git-core/a/b", true},
           {"/usr/lib/git-core/**", "/usr/lib/git-core", false},
           {"/usr/lib/git-core/**", "/usr/lib/git-corex/git", false},
           {"/usr/lib/llvm-*/bin/**", "/usr/lib/llvm-14/bin/clang", true},
           {"/usr/lib/llvm-*/bin/**", "/usr/lib/llvm-/bin/clang", true},
           {"/usr/lib/llvm-*/bin/**", "/usr/lib/llvm-14/lib/clang", false},
           {"/usr/lib/llvm-*/bin/**", "/usr/lib/llvm-14/x/bin/clang", false},
           {"/usr/lib/*/cc1", "/usr/lib/gcc/cc1", true},
           {"/usr/lib/*/cc1", "/usr/lib/gcc/12/cc1", false},
           {"/opt/a*a", "/opt/a", false},
           {"/opt/a*a", "/opt/aa", true},
           {"/opt/a*a", "/opt/aba", true},
           {"/**", "/usr/bin/x", true},
           {"/*", "/x", true},
           {"/*", "/x/y", false},
       }) {
    EXPECT_EQ(HelperPathMatches(pattern, path), matches) << pattern << " " << path;
  }
}

}  // namespace
}  // namespace caisson::policy
