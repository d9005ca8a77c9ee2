#pragma once

#include <optional>
#include <string_view>

#include "caisson/plan/layer_plan.h"

namespace caisson::storage {

// What the storage process checks before it believes a message of the launcher's: every value is in its range, and both
// names are empty or can be a file's own. Absent: the message is no such request. Pure.
std::optional<plan::StorageRequest> ReadStorageRequest(std::string_view message);

}  // namespace caisson::storage
