#include "caisson/cli/deposit.h"

#include "caisson/cli/host_folder.h"
#include "caisson/sandbox/sandboxes.h"

namespace caisson::cli {
namespace {

Status RequireOwnDaemon(const client::Endpoint& endpoint, const char* option) {
  if (endpoint.text() == client::kDefaultEndpoint) return {};
  return Fail(Error(Code::kUnsupported, std::string(option) + " is for the daemon of this host")
                  .Because("a folder is left with its launcher, and " + endpoint.text() + " may be another's")
                  .Remedy("leave out --host and CAISSON_HOST, or bring files in with `caisson copy`"));
}

}  // namespace

Result<sandbox::FolderDeposit> DepositImage(const client::Endpoint& endpoint, const std::string& folder) {
  CAISSON_CHECK_OK(RequireOwnDaemon(endpoint, "--image"));
  CAISSON_TRY(const os::Fd opened, OpenFolder(folder, "image"));
  return sandbox::FolderDeposit::Leave(sandbox::kRuntimeDirectory, opened);
}

Result<sandbox::FolderDeposit> DepositWorkspace(const client::Endpoint& endpoint, const WorkspaceFolder& workspace,
                                                Notices notices) {
  CAISSON_CHECK_OK(RequireOwnDaemon(endpoint, "--workspace"));
  CAISSON_TRY(const os::Fd opened, OpenFolder(workspace.path, "workspace"));
  if (workspace.mode != plan::WorkspaceMode::kCopy) {
    return sandbox::FolderDeposit::Leave(sandbox::kRuntimeDirectory, opened);
  }
  return sandbox::FolderDeposit::LeaveCopy(
      sandbox::kDataDirectory, sandbox::kRuntimeDirectory, opened,
      notices == Notices::kQuiet ? std::function<bool(const storage::CopyProgress&)>() : CopyNotices());
}

}  // namespace caisson::cli
