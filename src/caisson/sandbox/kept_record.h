#pragma once

#include <string_view>

#include "caisson/base/result.h"
#include "caisson/proto/kept.pb.h"

namespace caisson::sandbox {

// The record of a kept sandbox as it was read from its layer. Errors: kUnsupported when it is none of this version, or
// its ids are not those of a block. Pure; private to the module.
Result<proto::KeptSandbox> ReadKeptRecord(std::string_view bytes);

}  // namespace caisson::sandbox
