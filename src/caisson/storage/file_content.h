#pragma once

#include <sys/types.h>

#include <memory>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/storage/copy_meter.h"

namespace caisson::storage {

// Copies the content of regular files, between the same two file systems at every call. Finds out once which ways
// they offer.
class FileContent {
 public:
  // Borrowed; is told of every byte.
  explicit FileContent(CopyMeter& meter);

  enum class Way { kShared, kWritten };
  enum class Holes { kNone, kPossible };
  // Gives `target`, which is new and open for writing, the first `size` bytes of `source`, or as many as there are.
  // Holes stay holes; they are looked for where `holes` says so. Moves the offset of `source`.
  Result<Way> Copy(const os::Fd& source, const os::Fd& target, off_t size, Holes holes);

 private:
  Result<Way> Share(const os::Fd& source, const os::Fd& target, off_t size);
  Status CopySparse(const os::Fd& source, const os::Fd& target, off_t size);
  // Returns where it ended: before `end` when the source became shorter.
  Result<off_t> CopyRange(const os::Fd& source, const os::Fd& target, off_t start, off_t end);
  // Bytes copied from `offset` on, 0 at the end of the source.
  Result<std::size_t> CopyPiece(const os::Fd& source, const os::Fd& target, off_t offset, std::size_t size);

  CopyMeter& meter_;
  std::unique_ptr<char[]> buffer_;
  bool can_share_ = true;
  bool can_copy_ranges_ = true;
};

}  // namespace caisson::storage
