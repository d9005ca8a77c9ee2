#include "caisson/launcher/host_trees.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "caisson/launcher/device_tree.h"
#include "caisson/launcher/root_mounts.h"
#include "caisson/os/namespace.h"
#include "caisson/storage/host_image.h"

namespace caisson::launcher {
namespace {

// A private copy of the host's mount namespace: nothing done from here on shows on the host.
Status LeaveHostMounts() {
  if (unshare(CLONE_NEWNS) != 0) return Fail(Error::FromErrno(errno, "cannot make a mount namespace"));
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return Fail(Error::FromErrno(errno, "cannot make the mounts private"));
  }
  return {};
}

// Makes `root` the root of this namespace and drops everything else.
Status BecomeRoot(const os::DetachedMount& root) {
  // Any folder will do to hold the new root for the moment.
  CAISSON_CHECK_OK(os::Attach(root, "/proc"));
  if (fchdir(root.get()) != 0) return Fail(Error::FromErrno(errno, "cannot enter the new root"));
  if (syscall(SYS_pivot_root, ".", ".") != 0) return Fail(Error::FromErrno(errno, "cannot change the root"));
  if (umount2(".", MNT_DETACH) != 0) return Fail(Error::FromErrno(errno, "cannot drop the host's mounts"));
  if (chdir("/") != 0) return Fail(Error::FromErrno(errno, "cannot enter the new root"));
  return {};
}

Status MakePoint(const std::string& path) {
  if (mkdir(path.c_str(), 0755) != 0) return Fail(Error::FromErrno(errno, "cannot make the mount point " + path));
  return {};
}

Status MakePointAndAttach(const os::DetachedMount& tree, const std::string& path) {
  CAISSON_CHECK_OK(MakePoint(path));
  return os::Attach(tree, path.c_str());
}

Result<os::DetachedMount> CloneMapped(const std::string& path, const os::Fd& user_namespace) {
  CAISSON_TRY(os::DetachedMount tree, os::CloneTree(AT_FDCWD, path.c_str()));
  CAISSON_CHECK_OK(os::MapIds(tree, user_namespace));
  return tree;
}

Result<os::DetachedMount> MakeRoot() {
  CAISSON_TRY(os::FileSystem tmpfs, os::FileSystem::Open("tmpfs"));
  tmpfs.Set("mode", "0755").Set("size", "1m").Set("nr_inodes", "256");
  return tmpfs.Mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

// Of this process's pid namespace. A sandbox may mount its own only where one is visible whole.
Status AttachProc() {
  CAISSON_TRY(os::FileSystem proc, os::FileSystem::Open("proc"));
  CAISSON_TRY(const os::DetachedMount tree, proc.Mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC));
  return MakePointAndAttach(tree, "/proc");
}

// What hides a file or folder of proc: an empty one on a read-only mount.
Status MakeMasks() {
  CAISSON_TRY(os::FileSystem tmpfs, os::FileSystem::Open("tmpfs"));
  tmpfs.Set("mode", "0755").Set("size", "4k").Set("nr_inodes", "8");
  CAISSON_TRY(const os::DetachedMount masks, tmpfs.Mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC));
  os::Fd file(openat(masks.get(), "file", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444));
  if (!file.valid() || mkdirat(masks.get(), "folder", 0555) != 0) {
    return Fail(Error::FromErrno(errno, "cannot make a mask"));
  }
  file.Reset();  // a writer would keep the mount writable
  CAISSON_CHECK_OK(os::AddMountFlags(masks, MOUNT_ATTR_RDONLY));
  return MakePointAndAttach(masks, "/masks");
}

}  // namespace

Result<HostTrees> HostTrees::Enter(const os::Fd& data, const os::Fd& host_root) {
  HostTrees trees;
  CAISSON_TRY(trees.host_namespace_, os::OpenNamespace("mnt"));
  os::Fd images(openat(data.get(), "images", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!images.valid()) return Fail(Error::FromErrno(errno, "cannot open the data folder"));
  CAISSON_TRY(storage::HostImage image, storage::PrepareHostImage(host_root.get(), images.get()));

  // Copies must be made where the originals are: descriptors first, then the new namespace, then the copies.
  CAISSON_TRY(const os::DetachedMount skeleton, os::CloneTree(images.get(), image.skeleton.c_str()));
  std::vector<os::DetachedMount> folders;
  for (const std::string& name : image.folders) {
    CAISSON_TRY(os::DetachedMount folder, os::CloneTree(host_root.get(), name.c_str()));
    CAISSON_CHECK_OK(os::AddMountFlags(folder, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
    folders.push_back(std::move(folder));
  }
  CAISSON_CHECK_OK(LeaveHostMounts());
  CAISSON_TRY(const os::DetachedMount root, MakeRoot());
  CAISSON_CHECK_OK(BecomeRoot(root));
  CAISSON_CHECK_OK(AttachProc());
  CAISSON_CHECK_OK(MakeMasks());
  for (const char* point : {"/new", "/stage", "/stage/dev", "/stage/proc", kLowerPoint, kLayerPoint})
    CAISSON_CHECK_OK(MakePoint(point));
  CAISSON_CHECK_OK(MakePointAndAttach(skeleton, "/skeleton"));
  CAISSON_CHECK_OK(MakePoint("/host"));
  for (std::size_t i = 0; i < folders.size(); ++i) {
    CAISSON_CHECK_OK(MakePointAndAttach(folders[i], "/host/" + image.folders[i]));
  }
  CAISSON_TRY(const os::DetachedMount devices, MakeDeviceTree());
  CAISSON_CHECK_OK(MakePointAndAttach(devices, "/devices"));
  trees.folders_ = image.folders;
  trees.skeleton_ = image.skeleton;
  trees.image_use_ = std::move(image.use);
  trees.images_ = std::move(images);
  CAISSON_TRY(trees.own_namespace_, os::OpenNamespace("mnt"));
  return trees;
}

Result<os::DetachedMount> HostTrees::CloneSkeleton(const std::string& name, const os::Fd& user_namespace) const {
  if (name == skeleton_) return CloneMapped("/skeleton", user_namespace);
  // The layer that was kept with it keeps it from being collected.
  const os::Fd folder(openat(images_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!folder.valid()) return Fail(Error::FromErrno(errno, "the image that the sandbox was made from is gone"));
  CAISSON_TRY(os::DetachedMount tree, CloneHostFolder(folder));
  CAISSON_CHECK_OK(os::MapIds(tree, user_namespace));
  return tree;
}

Result<std::vector<HostTrees::ProgramFolder>> HostTrees::CloneProgramFolders(const os::Fd& user_namespace) const {
  std::vector<ProgramFolder> clones;
  for (const std::string& name : folders_) {
    CAISSON_TRY(os::DetachedMount mount, CloneMapped("/host/" + name, user_namespace));
    clones.push_back({name, std::move(mount)});
  }
  return clones;
}

Result<os::DetachedMount> HostTrees::CloneDevices() const { return os::CloneTree(AT_FDCWD, "/devices"); }

Result<os::DetachedMount> HostTrees::CloneHostFolder(const os::Fd& folder) const {
  CAISSON_CHECK_OK(os::EnterNamespace(host_namespace_));
  Result<os::DetachedMount> tree = os::CloneTree(folder.get(), "");
  // Without its own mounts the launcher must not go on: the next sandbox would start from the host's.
  if (const Status back = os::EnterNamespace(own_namespace_); !back) _exit(1);
  return tree;
}

}  // namespace caisson::launcher
