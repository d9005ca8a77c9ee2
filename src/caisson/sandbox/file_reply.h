#pragma once

#include <string_view>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/proto/guest.pb.h"
#include "caisson/sandbox/command.h"
#include "caisson/sandbox/files.h"

namespace caisson::sandbox {

// What a file operation wrote about itself, which comes from inside and is only data. Pure; private to the module.

// `path`: what was asked about. Errors: kUnavailable when it is no whole reply, or one that no operation gives; what
// the operation says.
Result<proto::FileReply> ReadFileReply(const CapturedOutput& output, std::string_view path);

std::vector<FileEntry> EntriesOf(const proto::FileReply& reply);

// Errors: kUnavailable when it is no tree of at most this depth and so many entries, in its order.
Result<FolderTree> TreeOf(const proto::FileReply& reply, std::uint32_t depth, std::uint32_t limit);

}  // namespace caisson::sandbox
