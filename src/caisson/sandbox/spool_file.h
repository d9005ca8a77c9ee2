#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "caisson/base/result.h"
#include "caisson/base/units.h"
#include "caisson/os/fd.h"

namespace caisson::sandbox {

// One stream of a command in a file, by its own offsets: the first bytes, and as many of the last as fit. The file's
// size is how much the command wrote; what is dropped in between is one hole of whole blocks. A process that is killed
// in the middle of anything loses and repeats nothing while the disk has room: bytes go from the pipe into the file
// within one system call. Not thread-safe, but Read may be called beside the others.
// Kernel: splice(2), fallocate(2), lseek(2) with SEEK_HOLE.
class SpoolFile {
 public:
  // Empty. The file `name` in `directory` (borrowed) is made when there is something to keep, and must not exist yet.
  static SpoolFile Later(int directory, std::string name);
  // As another process left it; without a file it is as Later gives it.
  static Result<SpoolFile> Open(int directory, const std::string& name);

  enum class Moved { kSome, kNothing, kEnd };
  // Takes what the pipe holds now, at most kPiece. On a full disk the command goes on: what finds no room is dropped,
  // first what lies before `free_until`.
  Moved Take(int pipe, std::uint64_t free_until = ~std::uint64_t{0});

  // How many bytes there were so far.
  std::uint64_t end() const { return end_; }
  // What is not kept: nothing while both are the same. It can reach beyond the end, and bytes that come there are not
  // kept either.
  std::uint64_t dropped_from() const { return dropped_from_; }
  std::uint64_t dropped_until() const { return dropped_until_; }
  // Whether the next Take may have to drop something.
  bool IsFull() const { return end_ + kPiece > kHead + kWindow && end_ + kPiece - dropped_until_ > kWindow; }
  // Gives up what lies before `offset` and behind the head.
  void DropBefore(std::uint64_t offset);

  int file() const { return file_.get(); }
  // At most `limit` bytes from `offset`; empty at the end. What was dropped reads as zeros.
  Result<std::string> Read(std::uint64_t offset, std::size_t limit) const;

  // Kept whatever is dropped, unless the disk was full before.
  static constexpr std::uint64_t kHead = MiB(1).value;
  static constexpr std::uint64_t kWindow = MiB(64).value;
  static constexpr std::uint64_t kPiece = MiB(1).value;

 private:
  SpoolFile(int directory, std::string name) : directory_(directory), name_(std::move(name)) {}
  // Whether there is a file, once the pipe has something for it.
  Moved Begin(int pipe);
  Moved Discard(int pipe);
  bool HasGap() const { return dropped_from_ != dropped_until_; }
  void PunchHole(std::uint64_t from, std::uint64_t until) const;

  int directory_;
  std::string name_;
  os::Fd file_;  // invalid before the first byte
  std::uint64_t end_ = 0;
  std::uint64_t dropped_from_ = kHead;  // both are multiples of a block
  std::uint64_t dropped_until_ = kHead;
};

}  // namespace caisson::sandbox
