#pragma once

#include <functional>
#include <string>
#include <vector>

#include "caisson/base/deadline.h"
#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/storage/folder_copy.h"
#include "caisson/storage/sandbox_folders.h"

namespace caisson::storage {

// Copies of workspace folders for sandboxes that stay, below the folder `copies` of the data folder: one folder for
// each sandbox, named by its id and locked by its engine (sandbox_folders.h), which holds the copy. It is needed as
// long as it is locked or the sandbox's layer is kept; while a store is not mounted, nobody knows of its layers, and
// every copy counts as needed.
struct WorkspaceCopy {
  os::Fd lock;
  os::Fd folder;     // the copy, opened for reading
  std::string path;  // below the data folder
};

// At most what the host's file system has free beyond the larger of 1 GiB and 5 %. Errors: as CopyFolder; nothing is
// left of one that failed.
Result<WorkspaceCopy> MakeWorkspaceCopy(const os::Fd& data, const std::string& id, const os::Fd& source,
                                        const std::function<bool(const CopyProgress&)>& progress);

// Opens one that nobody has locked, and locks it.
Result<WorkspaceCopy> TakeWorkspaceCopy(const os::Fd& data, const std::string& id);

// Gives one, by its lock, the name of its sandbox, which had none when it was made. Returns where the copy lies then.
// Again: nothing is done. Errors: EEXIST.
Result<std::string> NameWorkspaceCopy(const os::Fd& lock, const std::string& id);

// Every copy; kNobodyButKept: of a sandbox whose layer is kept.
std::vector<SandboxFolder> FindWorkspaceCopies(const os::Fd& data);

// Removes one unless somebody has it locked or its layer is kept; false when it was left for that.
Result<bool> RemoveWorkspaceCopy(const os::Fd& data, const std::string& id, const Deadline& deadline);

}  // namespace caisson::storage
