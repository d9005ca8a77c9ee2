#include "support/image_folder.h"

#include <filesystem>
#include <sstream>

#include "support/host_program.h"

namespace caisson::support {
namespace {

namespace fs = std::filesystem;

void Copy(const std::string& image, const std::string& path) {
  const std::string target = image + path;
  fs::create_directories(fs::path(target).parent_path());
  if (!fs::exists(target)) fs::copy_file(path, target);
}

}  // namespace

void AddProgram(const std::string& image, const std::string& program) {
  Copy(image, program);
  std::istringstream words(RunProgram({.argv = {"ldd", program}}).out);
  for (std::string word; words >> word;) {
    if (word.starts_with('/')) Copy(image, word);
  }
}

}  // namespace caisson::support
