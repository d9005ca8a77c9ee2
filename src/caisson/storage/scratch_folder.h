#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "caisson/os/fd.h"

namespace caisson::storage {

// A new folder for one test, removed with all it holds.
class ScratchFolder {
 public:
  ScratchFolder() : path_(testing::TempDir() + "caisson_storage.XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "no scratch folder";
    fd_.Reset(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  const os::Fd& fd() const { return fd_; }
  os::Fd Open(const std::string& name) const {
    return os::Fd(openat(fd_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  }
  os::Fd Again() const { return Open("."); }
  void Make(const std::string& name) const { EXPECT_EQ(mkdirat(fd_.get(), name.c_str(), 0700), 0) << name; }
  void Write(const std::string& name, std::size_t size) const {
    const os::Fd file(openat(fd_.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    EXPECT_TRUE(os::WriteAll(file.get(), std::string(size, 'x'))) << name;
    fsync(file.get());  // blocks are given when the data goes to the disk
  }
  bool Has(const std::string& name) const {
    struct stat info{};
    return fstatat(fd_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  }

 private:
  std::string path_;
  os::Fd fd_;
};

}  // namespace caisson::storage
