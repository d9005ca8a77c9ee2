#pragma once

#include <string>
#include <vector>

#include "caisson/base/deadline.h"
#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::storage {

// The built-in image `host`: a made skeleton (etc, home, tmp, mount points) and the host's own program folders.
struct HostImage {
  std::string skeleton;  // name of the skeleton folder below `images` of the data folder
  std::vector<std::string>
      folders;  // top-level folders to mount read-only from the host: "usr", on some hosts "lib" too
  os::Fd use;   // keeps the skeleton: it is removed only when nobody has such a descriptor
};

// Makes the skeleton below `images` (an open folder that only root may write) unless one made from the same host
// settings is there. Safe against other processes that do the same: the last step is a rename. Needs root.
Result<HostImage> PrepareHostImage(int host_root, int images);

// The name of the skeleton that fits the host's settings now, whether it was made or not.
std::string HostSkeletonName(int host_root);

enum class SkeletonUse {
  kInUse,     // somebody uses it, or is making it
  kCurrent,   // nobody does, but it is the next sandbox's
  kLeftOver,  // of older settings, or half-made by a process that died
};
struct Skeleton {
  std::string name;
  SkeletonUse use = SkeletonUse::kInUse;
};
// The skeletons below `images`, finished or not. `current`: the name of the one that fits.
std::vector<Skeleton> FindSkeletons(const os::Fd& images, const std::string& current);

// Removes a skeleton that nobody uses; one that somebody uses is left, and false returned.
Result<bool> RemoveSkeleton(const os::Fd& images, const std::string& name, const Deadline& deadline);

}  // namespace caisson::storage
