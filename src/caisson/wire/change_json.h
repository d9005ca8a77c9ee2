#pragma once

#include <optional>

#include "caisson/plan/change.h"

namespace boost::json {
class array;
class object;
}  // namespace boost::json

namespace caisson::wire {

// "created", "modified", "deleted", "metadata".
const char* KindName(plan::ChangeKind kind);

// One entry for each change. A path that is not UTF-8 is base64, and its entry says so.
boost::json::array ChangeArray(const plan::ChangeList& list);

// Sets `files_changed` and `files_changed_truncated`; null when it is not known what changed.
void AddChanges(const std::optional<plan::ChangeList>& list, boost::json::object& object);

}  // namespace caisson::wire
