#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace caisson {

// The known name that a mistyped one most likely means: the fewest letters added, left out, changed or swapped, and
// at most a third of them. Nothing when none is near.
std::optional<std::string> NearestName(std::string_view mistyped, const std::vector<std::string>& known);

}  // namespace caisson
