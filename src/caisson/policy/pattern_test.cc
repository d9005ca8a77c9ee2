#include "caisson/policy/pattern.h"

#include <gtest/gtest.h>

namespace caisson::policy {
namespace {

bool Matches(std::string_view pattern, std::string_view path) {
  return ParsePathPattern(pattern).value().Matches(path);
}

TEST(PathPattern, MatchesOneAFolderOrAGlob) {
  EXPECT_TRUE(Matches("/a/b", "/a/b"));
  EXPECT_FALSE(Matches("/a/b", "/a/b/c"));
  EXPECT_TRUE(Matches("/a/**", "/a"));
  EXPECT_TRUE(Matches("/a/**", "/a/b/c"));
  EXPECT_FALSE(Matches("/a/**", "/ab"));
  EXPECT_TRUE(Matches("/**", "/"));
  EXPECT_TRUE(Matches("/**", "/x/y"));
  EXPECT_TRUE(Matches("/a/*.c", "/a/x.c"));
  EXPECT_FALSE(Matches("/a/*.c", "/a/b/x.c"));
  EXPECT_TRUE(Matches("/a/**/*.c", "/a/x.c"));
  EXPECT_TRUE(Matches("/a/**/*.c", "/a/b/c/x.c"));
  EXPECT_FALSE(Matches("/a/**/*.c", "/b/x.c"));
  EXPECT_TRUE(Matches("/a/?", "/a/x"));
  EXPECT_FALSE(Matches("/a/?", "/a/xy"));
  EXPECT_TRUE(Matches("/**/.git/**/x", "/w/.git/a/b/x"));
  EXPECT_FALSE(Matches("/**/.git/**/x", "/w/git/a/b/x"));
}

TEST(PathPattern, TakesLittleTimeForAHostileGlob) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "/**/*a*a*a*b";
  const std::string path = "/" + std::string(2000, 'a');
  EXPECT_FALSE(Matches(pattern, path));
}

TEST(ParsePathPattern, TellsTheKinds) {
  EXPECT_EQ(ParsePathPattern("/a")->kind, PathPattern::Kind::kExact);
  EXPECT_EQ(ParsePathPattern("/a/**")->kind, PathPattern::Kind::kBelow);
  EXPECT_EQ(ParsePathPattern("/a/**")->text, "/a");
  EXPECT_EQ(ParsePathPattern("/**")->text, "/");
  EXPECT_EQ(ParsePathPattern("/a/*")->kind, PathPattern::Kind::kGlob);
  EXPECT_EQ(ParsePathPattern("/*/b/**")->kind, PathPattern::Kind::kGlob);
}

TEST(ParsePathPattern, RefusesWhatMeansNothing) {
  for (const char* text :
       {"", "a", "./a", "~/a", "/a/", "//a", "/a/../b", "/a/./b", "/a\n", "/a/[bc]", "/a/{b,c}", "**"}) {
    EXPECT_FALSE(ParsePathPattern(text)) << text;
  }
}

TEST(ParseCommandPattern, TakesWords) {
  EXPECT_EQ(ParseCommandPattern("git push")->words, (std::vector<std::string>{"git", "push"}));
  EXPECT_EQ(ParseCommandPattern(" git   push ")->text(), "git push");
  EXPECT_EQ(ParseCommandPattern("/opt/x/run")->words.front(), "/opt/x/run");
  EXPECT_TRUE(ParseCommandPattern("./**")->is_workspace_programs);
  EXPECT_EQ(ParseCommandPattern("./**")->text(), "./**");
  EXPECT_EQ(ParseCommandPattern("[")->words.front(), "[");
  for (const char* text :
       {"", "  ", "./x", "a/b", "/usr/../bin/x", "git *", "git 'x'", "a;b", "a\tb", "*", "a|b", "$x"}) {
    EXPECT_FALSE(ParseCommandPattern(text)) << text;
  }
  EXPECT_FALSE(ParseCommandPattern("x a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a"));
}

TEST(ParseHostPattern, TakesHostsAndPorts) {
  EXPECT_EQ(ParseHostPattern("Example.ORG:443").value(), "example.org:443");
  EXPECT_TRUE(ParseHostPattern("*.example.org:*"));
  EXPECT_TRUE(ParseHostPattern("[::1]:80"));
  for (const char* text : {"", "example.org", "example.org:", "example.org:0", "example.org:65536", "example.org:x",
                           "*:443", "a b:1", ".org:1", "ex*.org:1", "https://x:1", "a..b:1", "[:1"}) {
    EXPECT_FALSE(ParseHostPattern(text)) << text;
  }
}

TEST(HostMatches, ComparesHostAndPort) {
  EXPECT_TRUE(HostMatches("example.org:443", "EXAMPLE.org:443"));
  EXPECT_TRUE(HostMatches("example.org:443", "example.org.:443"));
  EXPECT_FALSE(HostMatches("example.org:443", "example.org:80"));
  EXPECT_FALSE(HostMatches("example.org:443", "notexample.org:443"));
  EXPECT_TRUE(HostMatches("example.org:*", "example.org:80"));
  EXPECT_TRUE(HostMatches("*.example.org:443", "a.b.example.org:443"));
  EXPECT_FALSE(HostMatches("*.example.org:443", "example.org:443"));
  EXPECT_FALSE(HostMatches("*.example.org:443", ".example.org:443"));
  EXPECT_FALSE(HostMatches("example.org:443", ""));
  EXPECT_TRUE(HostMatches("[::1]:80", "[::1]:80"));
}

TEST(PathMatches, TakesPartsStarsAndTrees) {
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
    const auto parsed = ParsePathPattern(pattern);
    ASSERT_TRUE(parsed) << pattern;
    EXPECT_EQ(parsed->Matches(path), matches) << pattern << " " << path;
  }
}

}  // namespace
}  // namespace caisson::policy
