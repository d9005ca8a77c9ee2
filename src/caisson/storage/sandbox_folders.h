#pragma once

#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::storage {

// The folders of writable layers below one parent. Each is locked by the process whose sandbox uses it, and the kernel
// drops the lock when that process ends, however it ends: an unlocked folder is a left-over. Source: flock(2).

// Makes the folder `name`, which only root may enter, and locks it until the descriptor closes.
Result<os::Fd> MakeSandboxFolder(const os::Fd& parent, const std::string& name);

enum class Owner { kNobody, kSomebody, kNobodyButKept };

struct SandboxFolder {
  std::string name;
  Owner owner = Owner::kNobody;
};
// Every folder, and whether a living process has it locked or else it is kept (kept_layer.h).
std::vector<SandboxFolder> FindSandboxFolders(const os::Fd& parent);

// Locks a folder that nobody has, so that it can be removed; invalid when somebody has it or it is kept.
os::Fd TakeLeftOverFolder(const os::Fd& parent, const std::string& name);

}  // namespace caisson::storage
