#pragma once

#include <functional>
#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/storage/folder_copy.h"

namespace caisson::sandbox {

// A folder of this host that its caller has opened and left with the launcher of the node that answers here, for one
// sandbox that is made while this object lives: whoever makes it says the ticket. Needs root. Move-only.
class FolderDeposit {
 public:
  // `runtime_directory`: where the launcher is found. Errors: kUnavailable when none is there.
  static Result<FolderDeposit> Leave(const std::string& runtime_directory, const os::Fd& folder);
  // The same of a copy of the folder in the data folder, which goes with the sandbox; one that is not used is a
  // left-over. `progress` may be empty; false from it cancels: kConflict. Errors: those of storage::MakeWorkspaceCopy.
  static Result<FolderDeposit> LeaveCopy(const std::string& data_directory, const std::string& runtime_directory,
                                         const os::Fd& folder,
                                         const std::function<bool(const storage::CopyProgress&)>& progress);

  const std::string& ticket() const { return ticket_; }

 private:
  FolderDeposit(os::Fd connection, std::string ticket)
      : connection_(std::move(connection)), ticket_(std::move(ticket)) {}
  static Result<FolderDeposit> LeaveAll(const std::string& runtime_directory, const std::vector<int>& fds);

  os::Fd connection_;
  std::string ticket_;
};

}  // namespace caisson::sandbox
