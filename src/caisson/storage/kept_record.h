#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "caisson/base/result.h"
#include "caisson/proto/kept.pb.h"

namespace caisson::storage {

inline constexpr std::uint32_t kKeptVersion = 1;

// The record of a sandbox whose files on disk have the ids of the block from `first_id` on.
proto::KeptSandbox NewKeptRecord(const std::string& id, std::uint32_t first_id);

// The record of a kept sandbox as it was read from its layer. Errors: kUnsupported when it is none of this version, or
// its ids are not those of a block. Pure.
Result<proto::KeptSandbox> ReadKeptRecord(std::string_view bytes);

}  // namespace caisson::storage
