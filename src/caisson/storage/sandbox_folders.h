#pragma once

#include <string>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::storage {

// The folders of writable layers below one parent. Each is locked by the process whose sandbox uses it, and the kernel
// drops the lock when that process ends, however it ends: an unlocked folder is a left-over. Source: flock(2).

// Makes the folder `name`, which only root may enter, and locks it until the descriptor closes.
Result<os::Fd> MakeSandboxFolder(const os::Fd& parent, const std::string& name);

// Removes every folder that nobody has locked. What cannot be removed stays for the next time.
void RemoveLeftOverFolders(const os::Fd& parent);

}  // namespace caisson::storage
