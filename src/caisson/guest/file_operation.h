#pragma once

#include "caisson/proto/guest.pb.h"

namespace caisson::guest {

// The largest content of one read or write, in bytes, and the most entries of one listing.
inline constexpr std::size_t kMaxContent = 16U << 20U;
inline constexpr std::uint32_t kMaxEntries = 10'000;

// Does the operation with the rights of the calling process and writes the serialised FileReply to `out`. A content to
// write is read from `in`. Never blocks on what a path leads to.
void RunFileOperation(const proto::FileOperation& operation, int in, int out);

}  // namespace caisson::guest
