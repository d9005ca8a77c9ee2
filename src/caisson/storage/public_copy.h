#pragma once

#include <string>

#include "caisson/base/result.h"

namespace caisson::storage {

// Copies `path` (a file, link or folder below the directory `from`) to the same path below `to`, as far as everybody
// may read it: regular files with the world-read bit, folders that everybody may list, symbolic links as they are.
// Everything else, secrets first of all, is left out. Copies belong to root with modes 0644 or 0755 under umask 022.
// Parents are made. A path that does not exist is left out too. Bounds: 20,000 entries, 16 levels and 64 MiB, then
// kResourceExhausted.
Status CopyPublic(int from, int to, const std::string& path);

}  // namespace caisson::storage
