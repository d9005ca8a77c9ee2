#pragma once

#include <string_view>

namespace caisson::api {

// api/openapi.yaml as JSON, the text that GET /openapi.json answers. Lives as long as the program.
std::string_view OpenApiJson();

}  // namespace caisson::api
