#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace caisson::policy {

// The presets as policy files.
const std::vector<std::string_view>& PresetFileNames();
std::optional<std::string> PresetFile(std::string_view name);

}  // namespace caisson::policy
