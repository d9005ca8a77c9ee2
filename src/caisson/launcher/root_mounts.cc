#include "caisson/launcher/root_mounts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace caisson::launcher {
namespace {

Result<os::Fd> OpenFolder(const os::Fd& parent, const std::string& name) {
  os::Fd folder(openat(parent.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!folder.valid()) return Fail(Error::FromErrno(errno, "cannot open a folder of the writable layer"));
  return folder;
}

Result<os::Fd> MakeOwnedFolder(const os::Fd& parent, const std::string& name, mode_t mode, std::uint32_t owner) {
  if (mkdirat(parent.get(), name.c_str(), mode) != 0) {
    return Fail(Error::FromErrno(errno, "cannot make a folder of the writable layer"));
  }
  CAISSON_TRY(os::Fd folder, OpenFolder(parent, name));
  if (fchown(folder.get(), owner, owner) != 0 || fchmod(folder.get(), mode) != 0) {
    return Fail(Error::FromErrno(errno, "cannot prepare a folder of the writable layer"));
  }
  return folder;
}

std::string DescriptorPath(const os::Fd& fd) { return "/proc/self/fd/" + std::to_string(fd.get()); }

Result<os::DetachedMount> MakeOverlay(const os::DetachedMount& lower, const os::Fd& upper, const os::Fd& work) {
  CAISSON_TRY(os::FileSystem overlay, os::FileSystem::Open("overlay"));
  overlay.Set("lowerdir", DescriptorPath(lower))
      .Set("upperdir", DescriptorPath(upper))
      .Set("workdir", DescriptorPath(work))
      .Set("redirect_dir", "on")
      .Set("metacopy", "off")
      .Set("index", "off")
      .Set("xino", "off")
      .Flag("volatile");
  return overlay.Mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

}  // namespace

Status OverlayMaker::AttachLayers(const os::DetachedMount& lower) {
  if (!is_attached_) CAISSON_CHECK_OK(os::Attach(layer_, kLayerPoint));
  is_attached_ = true;
  return os::Attach(lower, kLowerPoint);
}

Result<os::DetachedMount> OverlayMaker::Overlay(const os::DetachedMount& lower, const std::string& name,
                                                std::uint32_t owner) {
  // The upper's root shows as the merged root: it keeps the mode that the lower's has.
  struct stat info{};
  if (fstat(lower.get(), &info) != 0) return Fail(Error::FromErrno(errno, "cannot read a layer"));
  CAISSON_TRY(os::Fd upper, upper_ == Upper::kKept
                                ? OpenFolder(layer_, "upper_" + name)
                                : MakeOwnedFolder(layer_, "upper_" + name, info.st_mode & 07777, owner));
  CAISSON_TRY(const os::Fd work, MakeOwnedFolder(layer_, "work_" + name, 0700, owner));
  os::Fd readable(openat(lower.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!readable.valid()) return Fail(Error::FromErrno(errno, "cannot open a layer"));
  // Before Linux 6.15 overlayfs takes layers on attached mounts only; it makes its own copies of them. Attached on
  // every kernel, and never tried without: a refused volatile overlay can leave a mark in its work folder, of which no
  // second is made.
  CAISSON_CHECK_OK(AttachLayers(lower));
  CAISSON_TRY(os::DetachedMount overlay, MakeOverlay(lower, upper, work));
  folders_.push_back({std::move(upper), std::move(readable)});
  return overlay;
}

void DetachLayers() {
  for (const char* point : {kLowerPoint, kLayerPoint}) {
    while (umount2(point, MNT_DETACH) == 0) {
    }
  }
}

}  // namespace caisson::launcher
