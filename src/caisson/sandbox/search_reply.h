#pragma once

#include <cstdint>

#include "caisson/base/result.h"
#include "caisson/proto/guest.pb.h"
#include "caisson/sandbox/file_search.h"

namespace caisson::sandbox {

// What a search wrote about what it found, which comes from inside and is only data. Pure; private to the module.
// Errors: kUnavailable when it is more than `limit` matches, or one that no search gives.
Result<FileMatches> MatchesOf(const proto::FileReply& reply, std::uint32_t limit);

}  // namespace caisson::sandbox
