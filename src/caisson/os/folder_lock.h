#pragma once

#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::os {

// Folders whose use shows by a lock that the kernel drops with the last process that holds it, however that ends.
// Source: flock(2).

// flock(2), made again when a signal came in between. `operation`: as for LockFolder.
Status Lock(const Fd& file, int operation);

// Locks a folder through a description of its own, so that the lock is independent of others this process has.
// `operation`: LOCK_SH or LOCK_EX, with LOCK_NB an error with EWOULDBLOCK instead of waiting.
Result<Fd> LockFolder(const Fd& folder, int operation);

// Opens and locks the folder `name`, exclusively and without waiting. Invalid when somebody has it locked or it is no
// folder. Links are not followed.
Fd TryOwnFolder(const Fd& parent, const std::string& name);

// True while `name` below `parent` is the folder behind `folder`: nobody has moved or removed it.
bool IsStillAt(const Fd& folder, const Fd& parent, const std::string& name);

// The names in a folder, sorted, without "." and "..".
Result<std::vector<std::string>> ReadNames(const Fd& folder);
// The same, empty when it cannot be read.
std::vector<std::string> NamesIn(const Fd& folder);

}  // namespace caisson::os
