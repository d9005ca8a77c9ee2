#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <set>
#include <sstream>

#include "escape/attempt.h"
#include "escape/probe.h"

namespace caisson::escape {
namespace {

Outcome FindUnexpectedNode(const Context&) {
  const std::set<std::string> expected = {".",    "..",  "null", "zero", "full",  "random", "urandom", "tty",
                                          "ptmx", "pts", "shm",  "fd",   "stdin", "stdout", "stderr"};
  DIR* directory = ::opendir("/dev");
  if (directory == nullptr) return Refused(errno);
  std::string unexpected;
  while (const dirent* entry = ::readdir(directory)) {
    if (!expected.contains(entry->d_name) && unexpected.size() < 200) unexpected.append(" ").append(entry->d_name);
  }
  ::closedir(directory);
  return unexpected.empty() ? Refused(ENOENT) : Succeeded("also in /dev:" + unexpected);
}

// A sandbox without one of the usual nodes breaks programs; this is the other half of the listing.
Outcome MissUsualNode(const Context&) {
  for (const char* name : {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "fd", "stdin"}) {
    const std::string path = std::string("/dev/") + name;
    if (::access(path.c_str(), F_OK) != 0) return Succeeded("missing: " + path);
  }
  return Refused(EEXIST);
}

// The disks the kernel tells of, by the names their nodes would have.
Outcome OpenDisk(const Context&) {
  std::istringstream lines(Content("/proc/partitions"));
  Outcome last = Refused(ENOENT);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string ignored;
    std::string name;
    fields >> ignored >> ignored >> ignored >> name;
    if (name.empty() || name == "name") continue;
    const Outcome attempt = TryOpen("/dev/" + name, O_RDONLY);
    if (attempt.kind == Outcome::Kind::kSucceeded) return attempt;
    last = attempt;
  }
  return last;
}

Outcome OpenKernelMemory(const Context&) {
  Outcome last = Refused(ENOENT);
  for (const char* path : {"/dev/mem", "/dev/kmem", "/dev/port"}) {
    last = TryOpen(path, O_RDONLY);
    if (last.kind == Outcome::Kind::kSucceeded) return last;
  }
  return last;
}

Outcome OpenControlNode(const Context&) {
  Outcome last = Refused(ENOENT);
  for (const char* path : {"/dev/kvm", "/dev/fuse", "/dev/net/tun", "/dev/loop-control", "/dev/vsock",
                           "/dev/userfaultfd", "/dev/vhost-net", "/dev/btrfs-control", "/dev/mapper/control"}) {
    last = TryOpen(path, O_RDWR);
    if (last.kind == Outcome::Kind::kSucceeded) return last;
  }
  return last;
}

}  // namespace

Probes DeviceProbes() {
  return {
      {"dev_unexpected", "B7", "find a node in /dev beyond the usual ones", FindUnexpectedNode},
      {"dev_missing", "B7", "miss one of the usual nodes in /dev", MissUsualNode},
      {"dev_disk", "B7", "open a disk", OpenDisk},
      {"dev_mem", "B7", "open the machine's memory", OpenKernelMemory},
      {"dev_kmsg", "B7", "open the kernel log", [](const Context&) { return TryOpen("/dev/kmsg", O_RDONLY); }},
      {"dev_control", "B7", "open kvm, fuse, tun or the like", OpenControlNode},
  };
}

}  // namespace caisson::escape
