#pragma once

#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/os/mount.h"

namespace caisson::launcher {

// The launcher's own mount namespace: a handful of mounts instead of the host's dozens, since every sandbox starts from
// a copy of it. Its root holds proc, the device tree, the built-in image, two empty things to mask with, and
// empty points: `stage` for a sandbox's dev and proc, `new` for its root before it becomes the root, `lower` and
// `layer` for what older kernels want attached while an overlay is made.
class HostTrees {
 public:
  // Moves the calling process into it. `data` is the data folder, whose `images` exists; `host_root` is
  // what the image `host` is made from. Irreversible.
  static Result<HostTrees> Enter(const os::Fd& data, const os::Fd& host_root);

  // A copy of a skeleton of the image `host`, today's or an older one by its name, with the id map of `user_namespace`.
  Result<os::DetachedMount> CloneSkeleton(const std::string& name, const os::Fd& user_namespace) const;
  // The host's program folders, read-only, each with the top-level name it is mounted at.
  struct ProgramFolder {
    std::string name;
    os::DetachedMount mount;
  };
  Result<std::vector<ProgramFolder>> CloneProgramFolders(const os::Fd& user_namespace) const;
  // The name of the image `host`'s skeleton below `images` of the data folder.
  const std::string& skeleton() const { return skeleton_; }
  Result<os::DetachedMount> CloneDevices() const;
  // A copy of a folder that was opened in the host's mount namespace.
  Result<os::DetachedMount> CloneHostFolder(const os::Fd& folder) const;

 private:
  HostTrees() = default;

  os::Fd host_namespace_;
  os::Fd own_namespace_;
  os::Fd images_;     // of the data folder
  os::Fd image_use_;  // keeps the image `host` from being collected
  std::string skeleton_;
  std::vector<std::string> folders_;
};

}  // namespace caisson::launcher
