#pragma once

#include <functional>
#include <string>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/storage/folder_copy.h"

namespace caisson::cli {

// Opens a folder of this host with the caller's rights. `what` is for the error: "image", "workspace".
Result<os::Fd> OpenFolder(const std::string& path, const char* what);

// Says how far a copy is, every two seconds, so that one that is quick says nothing.
std::function<bool(const storage::CopyProgress&)> CopyNotices();

}  // namespace caisson::cli
