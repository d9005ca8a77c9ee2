#pragma once

#include <string>

#include "caisson/base/result.h"
#include "caisson/cli/run_request.h"
#include "caisson/client/endpoint.h"
#include "caisson/sandbox/folder_deposit.h"

namespace caisson::cli {

// Leaves a folder with the daemon of this host, for one sandbox that is made while the deposit lives; a workspace in
// mode copy is copied first, and `notices` says whether that is told. Errors: those of opening it; kUnsupported for a
// daemon that was chosen by hand, whose launcher nobody knows.
Result<sandbox::FolderDeposit> DepositImage(const client::Endpoint& endpoint, const std::string& folder);
Result<sandbox::FolderDeposit> DepositWorkspace(const client::Endpoint& endpoint, const WorkspaceFolder& workspace,
                                                Notices notices);

}  // namespace caisson::cli
