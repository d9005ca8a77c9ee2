#pragma once

#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::storage {

// Folders whose use shows by a lock that the kernel drops with the last process that holds it, however that ends.
// Source: flock(2).

// Locks a folder through a description of its own, so that the lock is independent of others this process has.
// `operation`: LOCK_SH or LOCK_EX, with LOCK_NB an error with EWOULDBLOCK instead of waiting.
Result<os::Fd> LockFolder(const os::Fd& folder, int operation);

// Opens and locks the folder `name`, exclusively and without waiting. Invalid when somebody has it locked or it is no
// folder. Links are not followed.
os::Fd TryOwnFolder(const os::Fd& parent, const std::string& name);

// True while `name` below `parent` is the folder behind `folder`: nobody has moved or removed it.
bool IsStillAt(const os::Fd& folder, const os::Fd& parent, const std::string& name);

// The names in a folder, sorted. Empty when it cannot be read.
std::vector<std::string> NamesIn(const os::Fd& folder);

}  // namespace caisson::storage
