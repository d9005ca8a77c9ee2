#pragma once

#include <string>
#include <vector>

#include "caisson/base/result.h"

namespace caisson::storage {

// The built-in image `host`: a made skeleton (etc, home, tmp, mount points) and the host's own program folders.
struct HostImage {
  std::string skeleton;  // name of the skeleton folder below `images` of the data folder
  std::vector<std::string>
      folders;  // top-level folders to mount read-only from the host: "usr", on some hosts "lib" too
};

// Makes the skeleton below `images` (an open folder that only root may write) unless one made from the same host
// settings is there. Safe against other processes that do the same: the last step is a rename. Needs root.
Result<HostImage> PrepareHostImage(int host_root, int images);

}  // namespace caisson::storage
