#include "caisson/os/mount.h"

#include <fcntl.h>

#include <array>
#include <cerrno>

namespace caisson::os {

Result<DetachedMount> CloneTree(int directory, const char* path) {
  const unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (*path == '\0' ? AT_EMPTY_PATH : 0U);
  const int fd = open_tree(directory, path, flags);
  if (fd < 0) return Fail(Error::FromErrno(errno, std::string("cannot clone the mount of '") + path + "'"));
  return Fd(fd);
}

Status MapIds(const DetachedMount& mount, const Fd& user_namespace) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_IDMAP;
  attributes.userns_fd = static_cast<std::uint64_t>(user_namespace.get());
  if (mount_setattr(mount.get(), "", AT_EMPTY_PATH, &attributes, sizeof attributes) != 0) {
    return Fail(Error::FromErrno(errno, "cannot give a mount an id map"));
  }
  return {};
}

Status AddMountFlags(const DetachedMount& mount, std::uint64_t flags) {
  mount_attr attributes{};
  attributes.attr_set = flags;
  if (mount_setattr(mount.get(), "", AT_EMPTY_PATH, &attributes, sizeof attributes) != 0) {
    return Fail(Error::FromErrno(errno, "cannot restrict a mount"));
  }
  return {};
}

Status Attach(const DetachedMount& mount, const char* path) {
  if (move_mount(mount.get(), "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) != 0) {
    return Fail(Error::FromErrno(errno, std::string("cannot attach a mount at ") + path));
  }
  return {};
}

Status AttachOn(const DetachedMount& mount, const Fd& directory) {
  if (move_mount(mount.get(), "", directory.get(), "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0) {
    return Fail(Error::FromErrno(errno, "cannot attach a mount"));
  }
  return {};
}

Result<FileSystem> FileSystem::Open(const char* type) {
  const int fd = fsopen(type, FSOPEN_CLOEXEC);
  if (fd < 0) return Fail(Error::FromErrno(errno, std::string("the kernel has no file system ") + type));
  return FileSystem(Fd(fd), type);
}

void FileSystem::Note(const char* what, int errno_value) {
  if (errno_ != 0) return;
  errno_ = errno_value;
  failed_ = what;
}

FileSystem& FileSystem::Set(const char* key, const std::string& value) {
  if (fsconfig(context_.get(), FSCONFIG_SET_STRING, key, value.c_str(), 0) != 0) Note(key, errno);
  return *this;
}

FileSystem& FileSystem::Flag(const char* key) {
  if (fsconfig(context_.get(), FSCONFIG_SET_FLAG, key, nullptr, 0) != 0) Note(key, errno);
  return *this;
}

Result<DetachedMount> FileSystem::Mount(unsigned attributes) {
  if (errno_ == 0 && fsconfig(context_.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) Note("create", errno);
  const int fd = errno_ == 0 ? fsmount(context_.get(), FSMOUNT_CLOEXEC, attributes) : -1;
  if (fd >= 0) return Fd(fd);
  if (errno_ == 0) Note("mount", errno);
  // The kernel explains itself in the context's log, one message a read.
  std::array<char, 256> log{};
  const ssize_t n = read(context_.get(), log.data(), log.size() - 1);
  std::string text = std::string("cannot make a ") + type_ + " mount (" + failed_ + ")";
  if (n > 0) text += ": " + std::string(log.data(), static_cast<std::size_t>(n));
  return Fail(Error::FromErrno(errno_, std::move(text)));
}

}  // namespace caisson::os
