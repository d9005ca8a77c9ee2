#pragma once

#include <sys/mount.h>

#include <cstdint>
#include <string>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::os {

// A mount that is attached nowhere yet, held by its descriptor; closing it unmounts it. Made by CloneTree or
// FileSystem, put in place by move_mount(2). Kernel: 5.2. Source: fsopen(2), open_tree(2), mount_setattr(2).
using DetachedMount = Fd;

// A copy of the mount that holds `path` under `directory`, rooted at that path, without the mounts below it.
// `path` may be empty: the directory itself.
Result<DetachedMount> CloneTree(int directory, const char* path);

// Gives a detached mount the id map of a user namespace (Linux 5.12, and by file system later).
// Errors: kUnsupported naming the file system's lack.
Status MapIds(const DetachedMount& mount, const Fd& user_namespace);

// Adds MOUNT_ATTR_* flags to a detached mount, without the mounts below it.
Status AddMountFlags(const DetachedMount& mount, std::uint64_t flags);

// Attaches a detached mount at a path.
Status Attach(const DetachedMount& mount, const char* path);
// Attaches it on a directory, whatever its name is now.
Status AttachOn(const DetachedMount& mount, const Fd& directory);

// Builds one new file system: FileSystem::Open("tmpfs"), Set..., Mount.
class FileSystem {
 public:
  static Result<FileSystem> Open(const char* type);
  // The first failure is kept and returned by Mount.
  FileSystem& Set(const char* key, const std::string& value);
  FileSystem& Flag(const char* key);
  // `attributes`: MOUNT_ATTR_*.
  Result<DetachedMount> Mount(unsigned attributes);

 private:
  FileSystem(Fd context, const char* type) : context_(std::move(context)), type_(type) {}
  void Note(const char* what, int errno_value);

  Fd context_;
  const char* type_;
  int errno_ = 0;
  std::string failed_;
};

}  // namespace caisson::os
