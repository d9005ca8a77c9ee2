#pragma once

#include <cstdint>

#include "caisson/proto/guest.pb.h"

namespace caisson::guest {

inline constexpr std::uint32_t kMaxTreeDepth = 16;
inline constexpr std::uint32_t kMaxTreeEntries = 10'000;
// More are not looked at: then the listing is truncated.
inline constexpr std::uint64_t kMaxTreeSeen = 1'000'000;

// Lists what is below a folder with the rights of the calling process. Only what is returned is looked at closer than
// by name, and nothing is waited for. A folder in the tree that cannot be read, or that something else has replaced
// meanwhile, is marked. Errors: EINVAL (depth or limit is 0 or too large), those of open(2) and getdents(2) on `path`.
proto::FileReply ListTree(const proto::ListTree& request);

}  // namespace caisson::guest
