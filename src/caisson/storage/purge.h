#pragma once

#include <string>

#include "caisson/base/result.h"
#include "caisson/storage/collection.h"

namespace caisson::storage {

enum class PurgeMode {
  kShow,    // says what would be removed and removes nothing
  kRemove,  // removes it
};

// Removes everything Caisson made on this host: cgroups, mounts in the data folder with their loop devices, all that
// the data folder holds, the folder of lock files, and both folders themselves. The folders are named again by path,
// since a folder is removed by its name; one that is a mount of its own is emptied and named in `kept`.
//
// Refuses while an engine or a sandbox lives, by two locks that these hold: that of the data folder (LockForUse) and
// those of id blocks. A cgroup that has an owner or holds a process is then another installation's, with folders of its
// own; it is left, and named in `kept`. Errors: kConflict naming what lives.
Result<Collected> Purge(const Places& places, const std::string& data_path, const std::string& runtime_path,
                        PurgeMode mode);

// Holds off Purge as long as the descriptor or a duplicate of it is open in any process. Errors: kUnavailable while a
// purge goes on or when it has removed the folder.
Status LockForUse(const os::Fd& data, const std::string& data_path);

}  // namespace caisson::storage
