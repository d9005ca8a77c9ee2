#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "caisson/os/fd.h"
#include "caisson/sandbox/spool_file.h"

namespace caisson::sandbox {

// A new folder for the spools of one test, removed with all it holds.
class SpoolFolder {
 public:
  SpoolFolder() : path_(testing::TempDir() + "caisson_spool.XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "no folder for spools";
    fd_.Reset(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  SpoolFolder(const SpoolFolder&) = delete;
  SpoolFolder& operator=(const SpoolFolder&) = delete;
  ~SpoolFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  int fd() const { return fd_.get(); }
  std::string Path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  os::Fd fd_;
};

// The stream that the tests write: eight bytes tell their own offset, so that a gap and a repeat show. Never zero.
inline std::string PatternAt(std::uint64_t offset, std::size_t size) {
  constexpr std::uint64_t kWord = 8;
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t at = offset + i;
    const std::uint64_t digit = at / kWord >> 6 * (at % kWord) & 63U;
    bytes[i] = static_cast<char>('0' + digit);
  }
  return bytes;
}

// A pipe that takes a whole piece without a reader, as that of a command does.
class PatternPipe {
 public:
  PatternPipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) ADD_FAILURE() << "no pipe";
    out_.Reset(ends[0]);
    in_.Reset(ends[1]);
    (void)fcntl(in_.get(), F_SETPIPE_SZ, 1 << 20);
  }

  int out() const { return out_.get(); }
  const os::Fd& in() const { return in_; }
  std::uint64_t written() const { return written_; }
  void Close() { in_.Reset(); }

  // The next bytes of the pattern, at most as many as find room. How many.
  std::size_t Write(std::size_t size) {
    const std::string bytes = PatternAt(written_, size);
    const ssize_t n = write(in_.get(), bytes.data(), bytes.size());
    if (n <= 0) return 0;
    written_ += static_cast<std::uint64_t>(n);
    return static_cast<std::size_t>(n);
  }

 private:
  os::Fd out_;
  os::Fd in_;
  std::uint64_t written_ = 0;
};

}  // namespace caisson::sandbox
