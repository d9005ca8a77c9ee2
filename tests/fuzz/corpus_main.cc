// In place of libFuzzer: runs the target once for each file of the folders that are its arguments.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/fuzz_input.h"

namespace {

std::vector<std::filesystem::path> FilesIn(const char* folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void RunOne(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::printf("%s\n", path.c_str());  // the last one named is the one that failed
  std::fflush(stdout);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& path : FilesIn(argv[i])) {
      RunOne(path);
      ++count;
    }
  }
  LLVMFuzzerTestOneInput(nullptr, 0);
  if (count == 0) std::fprintf(stderr, "no input: the corpus is empty\n");
  return count == 0 ? 1 : 0;
}
