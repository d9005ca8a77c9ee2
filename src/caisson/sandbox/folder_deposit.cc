#include "caisson/sandbox/folder_deposit.h"

#include "caisson/backend/data_folders.h"
#include "caisson/backend/launcher_door.h"
#include "caisson/base/id.h"
#include "caisson/plan/ticket_text.h"
#include "caisson/storage/workspace_copy.h"

namespace caisson::sandbox {

Result<FolderDeposit> FolderDeposit::LeaveAll(const std::string& runtime_directory, const std::vector<int>& fds) {
  CAISSON_TRY(const storage::Places places, backend::OpenExistingPlaces("/", runtime_directory));
  if (!places.runtime.valid()) return Fail(Error(Code::kUnavailable, "there is no " + runtime_directory));
  CAISSON_TRY(os::Fd connection, backend::ConnectToDoor(places.runtime));
  if (!connection.valid()) {
    return Fail(Error(Code::kUnavailable, "no launcher takes folders of this host")
                    .Because("nobody listens in " + runtime_directory)
                    .Remedy("start the daemon of this host: caisson serve"));
  }
  CAISSON_TRY(const plan::DoorReply reply, backend::SayAtDoor(connection, plan::Hello::kDeposit, fds));
  return FolderDeposit(std::move(connection), plan::FormatTicket(reply.ticket));
}

Result<FolderDeposit> FolderDeposit::Leave(const std::string& runtime_directory, const os::Fd& folder) {
  return LeaveAll(runtime_directory, {folder.get()});
}

Result<FolderDeposit> FolderDeposit::LeaveCopy(const std::string& data_directory, const std::string& runtime_directory,
                                               const os::Fd& folder,
                                               const std::function<bool(const storage::CopyProgress&)>& progress) {
  CAISSON_TRY(const backend::DataFolders folders, backend::DataFolders::Open(data_directory, runtime_directory));
  // The sandbox has no name yet; the copy needs one that nothing else has.
  CAISSON_TRY(const storage::WorkspaceCopy copy,
              storage::MakeWorkspaceCopy(folders.data, SandboxId::Random().text(), folder, progress));
  return LeaveAll(runtime_directory, {copy.folder.get(), copy.lock.get()});
}

}  // namespace caisson::sandbox
