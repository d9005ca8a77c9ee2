#pragma once

#include <string_view>

#include "caisson/base/result.h"
#include "caisson/tool/call.h"

namespace caisson::tool {

// Reads the input of a tool, as its schema in api/tools says. Pure. Errors: kNotFound for no tool, with the nearest
// name; kInvalidArgument with the JSON pointer of the wrong field as the detail `pointer`.
Result<Call> ReadCall(std::string_view tool, std::string_view input);

}  // namespace caisson::tool
