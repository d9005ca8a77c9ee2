#pragma once

#include <string_view>

namespace caisson::api {

// The documents of api/tools, in the order of their names, as one JSON array. Lives as long as the program.
std::string_view ToolsJson();

}  // namespace caisson::api
