#pragma once

#include <string>

#include "caisson/base/result.h"
#include "caisson/base/units.h"
#include "caisson/os/fd.h"

namespace caisson::storage {

// The file that holds the btrfs file system of writable layers, `store.img` of the data folder. Only root may read it.
inline constexpr char kStoreFileName[] = "store.img";

// Errors: kNotFound (ENOENT) when there is none; kPermissionDenied when it is not a plain file of root that nobody else
// can reach. `data_path` names the data folder in errors.
Result<os::Fd> OpenStoreFile(const os::Fd& data, const std::string& data_path);

// Makes it: sparse, with an empty file system, under another name until it is complete, so that whatever interrupts
// this leaves no store file. Runs mkfs.btrfs, which inherits `lock`: nobody who waits for that lock meets a writer that
// a killed process left. Errors: kUnsupported when mkfs.btrfs is not installed.
Status MakeStoreFile(const os::Fd& data, const std::string& data_path, const os::Fd& lock, Bytes size);

// Tells a whole btrfs file system from something else and from a part of one, before the kernel is asked to mount it.
// Errors: kUnavailable.
Status CheckStoreFile(const os::Fd& file, const std::string& data_path);

// The error of a store file that cannot be used: names the file, why, and what is left to do.
Error BrokenStoreFile(const std::string& data_path, std::string cause);

}  // namespace caisson::storage
