#include "caisson/guest/path_glob.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace caisson::guest {
namespace {

struct Case {
  std::string glob;
  std::vector<std::string> matched;
  std::vector<std::string> others;
};

TEST(PathGlob, MatchesNamesOrPaths) {
  const std::vector<Case> cases = {
      {"", {"a", "a/b"}, {}},
      {"*.py", {"a.py", ".py", "deep/er/a.py"}, {"a.pyc", "a", "py"}},
      {"a?c",
       {"abc", "x/a.c", "a\u00e9c", "a\U0001f600c",
        "a\xff"
        "c"},
       {"ac", "abbc", "a/c"}},
      {"src/*.py", {"src/a.py"}, {"src/x/a.py", "a.py", "x/src/a.py"}},
      {"**/*.py", {"a.py", "x/a.py", "x/y/a.py"}, {"a.pyc"}},
      {"src/**", {"src/a", "src/x/y"}, {"src", "xsrc/a"}},
      {"src/**/a", {"src/a", "src/x/a", "src/x/y/a"}, {"src/xa", "src/x/ba"}},
      {"**", {"a", "a/b"}, {}},
      {"*", {"a", "a/b", "new\nline", "\xff"}, {}},
      {"*/b", {"a/b", "\n/b"}, {"b", "a/a/b"}},
      {"a.+(b)[c]{d}\\$^|", {"a.+(b)[c]{d}\\$^|"}, {"aa(b)c"}},
      {"\xff*", {"\xff\xfe", "x/\xff"}, {"\xfe"}},
      {"A", {"A"}, {"a"}},
  };
  for (const Case& c : cases) {
    const PathGlob glob(c.glob);
    EXPECT_TRUE(glob.is_valid());
    for (const std::string& path : c.matched) EXPECT_TRUE(glob.Matches(path)) << c.glob << " " << path;
    for (const std::string& path : c.others) EXPECT_FALSE(glob.Matches(path)) << c.glob << " " << path;
  }
}

TEST(PathGlob, TakesLinearTime) {
  std::string stars;
  for (int i = 0; i < 60; ++i) stars += "*a";
  const PathGlob glob(stars + "b");
  ASSERT_TRUE(glob.is_valid());
  EXPECT_FALSE(glob.Matches(std::string(255, 'a')));
}

TEST(PathGlob, OneThatIsTooLargeSaysSo) { EXPECT_FALSE(PathGlob(std::string(80'000, '?')).is_valid()); }

}  // namespace
}  // namespace caisson::guest
