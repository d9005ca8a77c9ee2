#pragma once

#include <string>

#include "caisson/base/result.h"
#include "caisson/client/endpoint.h"

namespace caisson::cli {

enum class FolderUse { kImage, kWorkspace };

// Opens a folder of this host with the caller's rights and gives it to the node, for one sandbox that is made next.
// Returns the ticket that stands for it. Errors: those of opening it; kUnsupported where the node takes no folders.
Result<std::string> Deposit(const client::Endpoint& endpoint, const std::string& folder, FolderUse use);

}  // namespace caisson::cli
