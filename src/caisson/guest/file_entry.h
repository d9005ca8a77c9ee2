#pragma once

#include "caisson/proto/guest.pb.h"

namespace caisson::guest {

// Describes what a folder has under a name, and not what a link leads to. False, with only the name set: it went away
// meanwhile.
bool DescribeEntry(int folder, const char* name, proto::FileEntry& entry);

}  // namespace caisson::guest
