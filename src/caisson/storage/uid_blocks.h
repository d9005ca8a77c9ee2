#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::storage {

// Hands out blocks of host user ids, so that no two sandboxes of this host share one, whichever process made them. A
// block is a byte-range lock on one file, which the kernel drops when the last process that holds the descriptor ends:
// nothing is left behind, whatever ends how. Source: fcntl(2), open file description locks. Not thread-safe.
class UidBlocks {
 public:
  // `runtime`: the folder of the lock file.
  static Result<UidBlocks> Open(const os::Fd& runtime);
  // Nothing when there is no lock file: nobody ever took a block here.
  static Result<std::optional<UidBlocks>> OpenExisting(const os::Fd& runtime);

  // The number of a block nobody has, from 1. Errors: kResourceExhausted when all are taken.
  Result<std::uint32_t> Take();
  // Takes this block; false when somebody has it.
  Result<bool> TakeThis(std::uint32_t block);
  void Release(std::uint32_t block);
  // The blocks that others have.
  std::vector<std::uint32_t> TakenByOthers() const;

  // The first id of a block, and the number of ids that the sandbox itself has; those after them are for the owners of
  // files that are nobody's inside.
  static std::uint32_t FirstId(std::uint32_t block);
  static constexpr std::uint32_t kOwnIds = 65536;

 private:
  explicit UidBlocks(os::Fd file) : file_(std::move(file)) {}
  os::Fd file_;
  std::uint32_t next_ = 1;
};

}  // namespace caisson::storage
