#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "caisson/proto/guest.pb.h"

namespace caisson::guest {

inline constexpr std::uint32_t kMaxMatches = 1000;
inline constexpr std::size_t kMaxPattern = 4096;
inline constexpr std::size_t kMaxMatchText = 500;
// What is more, or deeper, or has a longer path, is not looked at: then the reply is truncated. So it is when a match
// too many may follow, and when the time is over.
inline constexpr std::uint64_t kMaxSearchEntries = 1'000'000;
inline constexpr std::size_t kMaxSearchDepth = 128;
inline constexpr std::size_t kMaxSearchPath = 4095;
// Less than the engine waits.
inline constexpr std::chrono::seconds kMaxSearchTime{9};

// Searches with the rights of the calling process, in the order of ListTree. Only regular files are opened, and nothing
// is waited for. Folders named .git are left out, unless the path is in one. Errors: EINVAL with the step `pattern` and
// what is wrong with it as content, with `glob`, with `limit`, and with `not_searchable` for a FIFO or the like; those
// of open(2) on `path`.
proto::FileReply SearchFiles(const proto::SearchFiles& request);

}  // namespace caisson::guest
