#include "caisson/policy/helper_table.h"

#include <algorithm>

namespace caisson::policy {
namespace {

using Helpers = std::vector<std::string_view>;

struct Row {
  Helpers programs;
  Helpers helpers;
};

const Helpers& CompilerHelpers() {
  static const Helpers helpers = {"/usr/lib/gcc/**",
                                  "/usr/libexec/gcc/**",
                                  "/usr/lib/gcc-cross/**",
                                  "/usr/lib/llvm-*/bin/**",
                                  "as",
                                  "ld",
                                  "ld.bfd",
                                  "ld.gold",
                                  "ld.lld",
                                  "ld.mold",
                                  "mold"};
  return helpers;
}

const std::vector<Row>& Table() {
  static const std::vector<Row> table = {
      {{"git"}, {"/usr/lib/git-core/**", "/usr/libexec/git-core/**"}},
      {{"gcc", "g++", "cc", "c++", "c89", "c99", "cpp", "clang", "clang++", "gfortran", "gcc-12", "g++-12"},
       CompilerHelpers()},
      {{"cmake", "ctest", "cpack"}, {"cmake", "ctest"}},
      {{"java", "javac", "jar", "javadoc", "mvn", "gradle"}, {"java", "/usr/lib/jvm/**"}},
      {{"go", "gofmt"}, {"go", "gofmt", "/usr/lib/go-*/**", "/usr/local/go/**"}},
      {{"cargo", "rustc", "rustdoc"}, {"rustc", "rustdoc", "cc", "/usr/lib/rustlib/**"}},
      {{"npm", "npx", "yarn", "pnpm"}, {"node"}},
      {{"pip", "pip3", "pytest", "py.test", "tox"}, {"python3"}},
  };
  return table;
}

}  // namespace

std::vector<std::string_view> HelpersOf(std::string_view program) {
  std::vector<std::string_view> found;
  for (const Row& row : Table()) {
    if (std::find(row.programs.begin(), row.programs.end(), program) == row.programs.end()) continue;
    found.insert(found.end(), row.helpers.begin(), row.helpers.end());
  }
  return found;
}

}  // namespace caisson::policy
