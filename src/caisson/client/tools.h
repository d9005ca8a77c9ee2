#pragma once

#include <string>
#include <string_view>

#include "caisson/base/result.h"
#include "caisson/client/http.h"

namespace caisson::client {

// Calls a tool of a sandbox, as an agent does, and waits for the step's result: the whole of it as JSON. `input`: a
// JSON object. Errors: kInvalidArgument when `input` is none, before anything is asked, or when the node refuses a
// field; those of Http::Ask; kInternal for an answer that is not understood.
Result<std::string> CallTool(Http& http, std::string_view sandbox, std::string_view tool, std::string_view input);

}  // namespace caisson::client
