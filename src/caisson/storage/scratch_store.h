#pragma once

#include <gtest/gtest.h>

#include <string>

#include "caisson/os/fd.h"
#include "caisson/storage/btrfs_store.h"

namespace caisson::storage {

// A data folder for one test, whose stores are small. The test program has a mount namespace of its own, so that
// mounts, and with them loop devices, end with it whatever happens.
class ScratchStoreTest : public testing::Test {
 protected:
  static constexpr StorePolicy kPolicy = {
      .first_size = MiB(256), .growth_step = MiB(64), .reserve = MiB(1), .reserve_percent = 0};

  void SetUp() override;
  void TearDown() override;

  // Puts the data folder on a file system of its own of this size.
  void UseHostOf(Bytes size);
  Result<BtrfsStore> Open(IfMissing if_missing = IfMissing::kCreate) const {
    return BtrfsStore::Open(data_, path_, if_missing, kPolicy);
  }
  // Waits until nothing holds the store file any more.
  void Unmount();
  bool Exists(const char* name) const;
  std::string FilePath() const { return path_ + "/store.img"; }
  os::Fd OpenFile() const;

  std::string path_;
  os::Fd data_;
};

// What an assertion prints.
std::string Text(const Error& error);

}  // namespace caisson::storage
