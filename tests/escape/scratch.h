#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace caisson::escape {

// Owns one temporary directory and removes it with all it holds.
class Scratch {
 public:
  Scratch() {
    char path[] = "/tmp/escape-XXXXXX";
    if (::mkdtemp(path) != nullptr) path_ = path;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    if (valid()) std::filesystem::remove_all(path_, ignored);
  }

  bool valid() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace caisson::escape
