#pragma once

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "fuzz/fuzz_input.h"

namespace caisson::fuzz {

// A folder in memory for the life of the process, with a few entries of each kind to find in it.
class ScratchTree {
 public:
  ScratchTree() {
    std::string name = "/dev/shm/caisson-fuzz-XXXXXX";
    Require(mkdtemp(name.data()) != nullptr, "a folder can be made");
    path_ = name;
    Fill();
  }
  ~ScratchTree() { std::filesystem::remove_all(path_); }
  ScratchTree(const ScratchTree&) = delete;
  ScratchTree& operator=(const ScratchTree&) = delete;

  const std::string& path() const { return path_; }
  // As it was at first.
  void Refill() {
    for (const auto& entry : std::filesystem::directory_iterator(path_)) std::filesystem::remove_all(entry.path());
    Fill();
  }

 private:
  void Fill() const {
    const std::filesystem::path root = path_;
    std::filesystem::create_directories(root / "dir" / "deep");
    std::ofstream(root / "file") << "content\n";
    std::ofstream(root / "dir" / "other") << "other\n";
    std::filesystem::create_symlink("file", root / "link");
    std::filesystem::create_symlink("new", root / "dangling");
    std::filesystem::create_symlink("loop", root / "loop");
    std::filesystem::create_symlink("dir/deep", root / "folder_link");
    Require(mkfifo((root / "fifo").c_str(), 0600) == 0, "a FIFO can be made");
  }

  std::string path_;
};

}  // namespace caisson::fuzz
