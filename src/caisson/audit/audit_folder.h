#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "caisson/base/id.h"
#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::audit {

// The folder `audit` of a data folder, and the names of files in it: `<sandbox>.jsonl`, which is written, and before
// it `<sandbox>.<number>.jsonl`, full and not written again, by rising number. No links are followed.

// Makes the folder with mode 0700 when there is none. Errors: those of the system calls.
Result<os::Fd> MakeAuditFolder(const os::Fd& data_folder);
Result<os::Fd> OpenAuditFolder(const os::Fd& data_folder);

std::string CurrentName(const SandboxId& sandbox);
std::string FullName(const SandboxId& sandbox, std::uint64_t number);

// The numbers of a sandbox's full files, rising.
Result<std::vector<std::uint64_t>> FullFiles(const os::Fd& audit_folder, const SandboxId& sandbox);

// All of a sandbox's files in the order of their records.
Result<std::vector<std::string>> FilesOf(const os::Fd& audit_folder, const SandboxId& sandbox);

// A regular file, for reading. Errors: kInvalidArgument when it is anything else, and those of the system calls.
Result<os::Fd> OpenToRead(const os::Fd& audit_folder, const std::string& name);

}  // namespace caisson::audit
