#pragma once

#include <string>

#include "caisson/base/result.h"
#include "caisson/sandbox/files.h"
#include "caisson/tool/call.h"
#include "caisson/tool/data.h"

namespace caisson::service {

// What the tools for files do, with the operations of a sandbox. Private to the module.

// How much of a file one call reads at most to find its lines, and how much of it is told.
inline constexpr Bytes kMostScanned = MiB(256);
inline constexpr Bytes kMostTold = MiB(1);

// Errors of all: those of sandbox::Files; kConflict when the file is another than `expected_sha256` says.

Result<tool::FileText> ReadLines(sandbox::Files& files, const tool::ReadFile& call);
Result<tool::FileWritten> WriteWhole(sandbox::Files& files, const tool::WriteFile& call);
// Errors: also kNotFound when the old text is not there; kConflict when it is there more or less often than the call
// says, naming the lines.
Result<tool::FileEdited> EditText(sandbox::Files& files, const tool::EditFile& call);

Result<tool::Listing> ListBelow(sandbox::Files& files, const tool::ListDirectory& call);

}  // namespace caisson::service
