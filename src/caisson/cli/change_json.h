#pragma once

#include <optional>

#include "caisson/plan/change.h"

namespace boost::json {
class object;
}

namespace caisson::cli {

// "created", "modified", "deleted", "metadata".
const char* KindName(plan::ChangeKind kind);

// Sets `files_changed` and `files_changed_truncated`; null when it is not known what changed. A path that is not UTF-8
// is base64, and its entry says so.
void AddChanges(const std::optional<plan::ChangeList>& list, boost::json::object& object);

}  // namespace caisson::cli
