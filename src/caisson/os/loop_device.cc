#include "caisson/os/loop_device.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <vector>

namespace caisson::os {
namespace {

// Others take the number we were told in the meantime; nobody is that unlucky so often.
constexpr int kAttempts = 64;
constexpr unsigned kBlockSize = 4096;

std::string DevicePath(const std::string& name) { return "/dev/" + name; }

Result<std::vector<std::string>> LoopNames() {
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir("/sys/block"), closedir);
  if (listing == nullptr) return Fail(Error::FromErrno(errno, "cannot list the block devices in /sys/block"));
  std::vector<std::string> names;
  while (const dirent* entry = readdir(listing.get())) {
    std::string name = entry->d_name;
    if (name.starts_with("loop")) names.push_back(std::move(name));
  }
  return names;
}

bool HasFile(const std::string& name) {
  return access(("/sys/block/" + name + "/loop/backing_file").c_str(), F_OK) == 0;
}

Result<bool> Shows(const Fd& device, const struct stat& file, loop_info64& info) {
  if (ioctl(device.get(), LOOP_GET_STATUS64, &info) != 0) {
    if (errno == ENXIO) return false;
    return Fail(Error::FromErrno(errno, "cannot ask a loop device for its file"));
  }
  return info.lo_device == file.st_dev && info.lo_inode == file.st_ino;
}

Result<struct stat> Describe(const Fd& file) {
  struct stat info{};
  if (fstat(file.get(), &info) != 0) return Fail(Error::FromErrno(errno, "cannot describe the file of a loop device"));
  return info;
}

Error NoDevice(int errno_value) {
  return std::move(Error(Code::kResourceExhausted, "no loop device is to be had")
                       .Because(Error::FromErrno(errno_value, "").cause())
                       .Remedy("detach unused ones (losetup --detach), or load the module loop and give this place "
                               "/dev/loop-control and its /dev/loop* nodes"));
}

}  // namespace

Result<std::optional<LoopDevice>> LoopDevice::Find(const Fd& file) {
  CAISSON_TRY(const struct stat wanted, Describe(file));
  CAISSON_TRY(const std::vector<std::string> names, LoopNames());
  for (const std::string& name : names) {
    if (!HasFile(name)) continue;
    Fd device(open(DevicePath(name).c_str(), O_RDWR | O_CLOEXEC));
    if (!device.valid()) {
      // Detached in the meantime, or read-only and so asked by another descriptor.
      device.Reset(open(DevicePath(name).c_str(), O_RDONLY | O_CLOEXEC));
      if (!device.valid() && !HasFile(name)) continue;
      if (!device.valid()) return Fail(Error::FromErrno(errno, "cannot ask " + DevicePath(name) + " for its file"));
    }
    loop_info64 info{};
    CAISSON_TRY(const bool shows, Shows(device, wanted, info));
    if (!shows) continue;
    if (info.lo_offset != 0 || info.lo_sizelimit != 0 || (info.lo_flags & LO_FLAGS_READ_ONLY) != 0) {
      return Fail(Error(Code::kConflict, "somebody attached the file to " + DevicePath(name) + " in part or read-only")
                      .Remedy("unmount what uses it and run: losetup --detach " + DevicePath(name)));
    }
    return std::optional<LoopDevice>(LoopDevice(std::move(device), DevicePath(name)));
  }
  return std::optional<LoopDevice>();
}

Result<LoopDevice> LoopDevice::Attach(const Fd& file) {
  const Fd control(open("/dev/loop-control", O_RDWR | O_CLOEXEC));
  if (!control.valid()) return Fail(NoDevice(errno));
  int failure = EBUSY;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const int number = ioctl(control.get(), LOOP_CTL_GET_FREE);
    if (number < 0) return Fail(NoDevice(errno));
    std::string path = DevicePath("loop" + std::to_string(number));
    Fd device(open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!device.valid()) return Fail(NoDevice(errno));
    loop_config config{};
    config.fd = static_cast<__u32>(file.get());
    config.block_size = kBlockSize;
    // Direct: without a second copy of everything in the page cache. The kernel does without where the file system
    // cannot.
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO;
    if (ioctl(device.get(), LOOP_CONFIGURE, &config) == 0) return LoopDevice(std::move(device), std::move(path));
    failure = errno;
    if (failure != EBUSY) {
      return Fail(Error::FromErrno(failure, "cannot attach a file to the loop device " + path));
    }
  }
  return Fail(NoDevice(failure));
}

Status LoopDevice::AdoptFileSize() const {
  if (ioctl(device_.get(), LOOP_SET_CAPACITY, 0) == 0) return {};
  return Fail(Error::FromErrno(errno, "cannot give the loop device " + path_ + " the new size of its file"));
}

Status LoopDevice::Detach() const {
  if (ioctl(device_.get(), LOOP_CLR_FD, 0) == 0 || errno == ENXIO) return {};
  return Fail(Error::FromErrno(errno, "cannot detach the loop device " + path_));
}

Result<bool> IsLoopDeviceOf(const std::string& path, const Fd& file) {
  CAISSON_TRY(const struct stat wanted, Describe(file));
  const Fd device(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!device.valid()) return Fail(Error::FromErrno(errno, "cannot open the device " + path));
  loop_info64 info{};
  auto shows = Shows(device, wanted, info);
  // A device that is no loop device does not know the question.
  if (!shows && (shows.error().errno_value() == ENOTTY || shows.error().errno_value() == EINVAL)) return false;
  return shows;
}

}  // namespace caisson::os
