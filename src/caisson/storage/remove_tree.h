#pragma once

#include "caisson/base/deadline.h"
#include "caisson/base/result.h"

namespace caisson::storage {

// Removes the directory `name` below `directory` with everything in it. The content is hostile: links are not followed,
// and any depth works with a handful of descriptors, because deep folders are first moved up to the top.
// A missing directory is not an error. Stays on one file system.
Status RemoveTree(int directory, const char* name);

// The same until a point in time. Errors: kDeadlineExceeded with a part removed; a second call goes on.
Status RemoveTree(int directory, const char* name, const Deadline& deadline);

}  // namespace caisson::storage
