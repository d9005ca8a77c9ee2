#include <fcntl.h>
#include <unistd.h>

#include <sstream>

#include "escape/attempt.h"
#include "escape/probe.h"

namespace caisson::escape {
namespace {

// Where a cgroup hierarchy is mounted, else where it would be.
std::string CgroupMount() {
  std::istringstream lines(Content("/proc/self/mounts"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string source;
    std::string target;
    std::string type;
    fields >> source >> target >> type;
    if (type == "cgroup" || type == "cgroup2") return target;
  }
  return "/sys/fs/cgroup";
}

// Asks for the permission instead of making a cgroup, so that the host keeps the ones it has.
Outcome CreateCgroup(const Context&) { return FromReturn(::access(CgroupMount().c_str(), W_OK)); }
Outcome LeaveCgroup(const Context&) { return TryOpen(CgroupMount() + "/cgroup.procs", O_WRONLY); }

// "/.." shows a namespace whose root lies below the host's cgroup that the process was left in.
Outcome ReadHostCgroup(const Context& context) {
  const std::string cgroups = Content("/proc/self/cgroup");
  if (cgroups.find(":/..") != std::string::npos) return Succeeded("outside its cgroup namespace");
  const std::string* path = context.Find("cgroup-path");
  if (path == nullptr) return NotRun("needs --cgroup-path");
  return cgroups.find(*path) == std::string::npos ? Refused(ENOENT) : Succeeded(*path);
}

}  // namespace

Probes CgroupProbes() {
  return {
      {"cgroup_create", "E2", "create a cgroup", CreateCgroup},
      {"cgroup_leave", "E3", "move itself to the root cgroup", LeaveCgroup},
      {"cgroup_path", "B9", "see where in the host's cgroups it lies", ReadHostCgroup},
  };
}

}  // namespace caisson::escape
