#pragma once

#include <cstdint>
#include <string_view>

#include "caisson/base/result.h"
#include "caisson/proto/kept.pb.h"

namespace caisson::storage {

inline constexpr std::uint32_t kKeptVersion = 1;

// The record of a kept sandbox as it was read from its layer. Errors: kUnsupported when it is none of this version, or
// its ids are not those of a block. Pure.
Result<proto::KeptSandbox> ReadKeptRecord(std::string_view bytes);

}  // namespace caisson::storage
