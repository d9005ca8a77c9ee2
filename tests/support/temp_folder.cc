#include "support/temp_folder.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "support/host_program.h"

namespace caisson::support {

// In /var/tmp, which is on a disk: /tmp may be in memory, where older kernels cannot map owners.
TempFolder::TempFolder() : path_("/var/tmp/caisson-test-XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr || chmod(path_.c_str(), 0755) != 0) {
    std::perror("mkdtemp");
    std::abort();
  }
}

TempFolder::~TempFolder() {
  // A program, since names here may be longer together than any path may be.
  if (!path_.empty()) RunProgram({.argv = {"rm", "-rf", "--", path_}});
}

void WriteFile(const std::string& path, std::string_view content, unsigned mode) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << content;
  file.close();
  EXPECT_TRUE(file) << "cannot write " << path;
  EXPECT_EQ(chmod(path.c_str(), mode), 0) << path;
}

std::string ReadFile(const std::string& path) {
  const std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace caisson::support
