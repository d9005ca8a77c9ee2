#include "caisson/launcher/device_tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

namespace caisson::launcher {
namespace {

struct Device {
  const char* name;
  unsigned major;
  unsigned minor;
};
constexpr std::array<Device, 6> kDevices = {
    {{"null", 1, 3}, {"zero", 1, 5}, {"full", 1, 7}, {"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0}}};

struct Link {
  const char* name;
  const char* target;
};
constexpr std::array<Link, 5> kLinks = {{{"fd", "/proc/self/fd"},
                                         {"stdin", "/proc/self/fd/0"},
                                         {"stdout", "/proc/self/fd/1"},
                                         {"stderr", "/proc/self/fd/2"},
                                         {"ptmx", "pts/ptmx"}}};

}  // namespace

Result<os::DetachedMount> MakeDeviceTree() {
  CAISSON_TRY(os::FileSystem tmpfs, os::FileSystem::Open("tmpfs"));
  tmpfs.Set("mode", "0755").Set("size", "64k").Set("nr_inodes", "32");
  CAISSON_TRY(os::DetachedMount tree, tmpfs.Mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC));
  for (const Device& device : kDevices) {
    // Two steps, since the umask is not ours to know.
    if (mknodat(tree.get(), device.name, S_IFCHR | 0666, makedev(device.major, device.minor)) != 0 ||
        fchmodat(tree.get(), device.name, 0666, 0) != 0) {
      return Fail(Error::FromErrno(errno, std::string("cannot make the device ") + device.name));
    }
  }
  for (const Link& link : kLinks) {
    if (symlinkat(link.target, tree.get(), link.name) != 0) {
      return Fail(Error::FromErrno(errno, std::string("cannot make the link /dev/") + link.name));
    }
  }
  for (const char* point : {"pts", "shm"}) {
    if (mkdirat(tree.get(), point, 0755) != 0) {
      return Fail(Error::FromErrno(errno, std::string("cannot make /dev/") + point));
    }
  }
  CAISSON_CHECK_OK(os::AddMountFlags(tree, MOUNT_ATTR_RDONLY));
  return tree;
}

}  // namespace caisson::launcher
