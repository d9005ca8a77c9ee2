#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <initializer_list>

#include "caisson/os/fd.h"
#include "escape/attempt.h"
#include "escape/probe.h"

namespace caisson::escape {
namespace {

// A probe that opens a control file for writing and writes nothing.
Probe OpensForWriting(std::string name, std::string catalogue, const std::string& path) {
  return {std::move(name), std::move(catalogue), "open " + path + " for writing",
          [path](const Context&) { return TryOpen(path, O_WRONLY); }};
}

Probe Reads(std::string name, std::string catalogue, const std::string& path) {
  return {std::move(name), std::move(catalogue), "read " + path, [path](const Context&) { return TryRead(path); }};
}

// Succeeds with the first of `paths` that gives a byte.
Outcome ReadAny(std::initializer_list<const char*> paths) {
  for (const char* path : paths) {
    if (const Outcome attempt = TryRead(path); attempt.kind == Outcome::Kind::kSucceeded) return attempt;
  }
  return Refused(ENODATA);
}

Outcome ReadKernelTables(const Context&) {
  return ReadAny({"/proc/kallsyms", "/proc/key-users", "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug",
                  "/proc/latency_stats", "/proc/kpagecount", "/proc/kpageflags", "/proc/kpagecgroup", "/proc/slabinfo",
                  "/proc/vmallocinfo", "/proc/config.gz", "/proc/scsi/scsi"});
}

Outcome ReadSysfs(const Context&) {
  return ReadAny({"/sys/kernel/uevent_seqnum", "/sys/power/state", "/sys/class/dmi/id/product_uuid",
                  "/sys/kernel/notes", "/sys/module/kernel/parameters/panic", "/sys/devices/system/cpu/online"});
}

// A masked directory is empty; the host's has entries.
Outcome ListDirectory(const char* path) {
  DIR* directory = ::opendir(path);
  if (directory == nullptr) return Refused(errno, path);
  int entries = 0;
  while (const dirent* entry = ::readdir(directory)) entries += entry->d_name[0] == '.' ? 0 : 1;
  ::closedir(directory);
  return entries > 0 ? Succeeded(path) : Refused(ENODATA, path);
}

Outcome FindSpecialMount(const Context&) {
  const std::string mounts = Content("/proc/self/mounts");
  for (const char* type : {" sysfs ", " cgroup ", " cgroup2 ", " bpf ", " debugfs ", " tracefs ", " securityfs ",
                           " binfmt_misc ", " devtmpfs ", " configfs ", " fuse"}) {
    if (mounts.find(type) != std::string::npos) return Succeeded(std::string("mounted:") + type);
  }
  return Refused(ENOENT);
}

Outcome FindHostPath(const Context& context) {
  const std::string* path = context.Find("host-path");
  if (path == nullptr) return NotRun("needs --host-path");
  if (Content("/proc/self/mountinfo").find(*path) != std::string::npos) return Succeeded("mountinfo names " + *path);
  return Refused(ENOENT);
}

// Every process has its first argument compared with one that only a process of the host carries.
Outcome FindHostProcess(const Context& context) {
  const std::string* wanted = context.Find("host-process");
  if (wanted == nullptr) return NotRun("needs --host-process");
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string command = Content(entry.path().string() + "/cmdline", 4096);
    if (command.substr(0, command.find('\0')) == *wanted) return Succeeded(entry.path().string());
  }
  return Refused(ESRCH);
}

Outcome LowerOomScore(const Context&) {
  const os::Fd fd(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) return Refused(errno);
  return FromReturn(::write(fd.get(), "-1000", 5));
}

Outcome ReadAcpi(const Context&) {
  const Outcome acpi = ListDirectory("/proc/acpi");
  return acpi.kind == Outcome::Kind::kSucceeded ? acpi : ListDirectory("/proc/asound");
}

}  // namespace

Probes ProcProbes() {
  return {
      OpensForWriting("sysrq_trigger", "B1", "/proc/sysrq-trigger"),
      OpensForWriting("core_pattern", "B2", "/proc/sys/kernel/core_pattern"),
      OpensForWriting("modprobe_path", "B2", "/proc/sys/kernel/modprobe"),
      OpensForWriting("sysctl_vm", "B1", "/proc/sys/vm/drop_caches"),
      OpensForWriting("sysctl_net", "B5", "/proc/sys/net/ipv4/ip_forward"),
      OpensForWriting("sysctl_user", "B5", "/proc/sys/user/max_user_namespaces"),
      OpensForWriting("sysctl_hostname", "B5", "/proc/sys/kernel/hostname"),
      OpensForWriting("sysctl_last_pid", "B5", "/proc/sys/kernel/ns_last_pid"),
      OpensForWriting("sysctl_ping_range", "B5", "/proc/sys/net/ipv4/ping_group_range"),
      OpensForWriting("binfmt_register", "B6", "/proc/sys/fs/binfmt_misc/register"),
      OpensForWriting("irq_affinity", "B1", "/proc/irq/default_smp_affinity"),
      Reads("kcore", "B1", "/proc/kcore"),
      {"kernel_log", "B1", "open /proc/kmsg", [](const Context&) { return TryOpen("/proc/kmsg", O_RDONLY); }},
      Reads("keys", "B1", "/proc/keys"),
      Reads("interrupts", "B1", "/proc/interrupts"),
      {"kernel_tables", "B1", "read kallsyms, timer_list, slabinfo and their like", ReadKernelTables},
      {"acpi_asound", "B1", "list /proc/acpi or /proc/asound", ReadAcpi},
      {"sysfs", "B1", "read sysfs", ReadSysfs},
      {"special_mount", "B6", "find sysfs, cgroup, bpf, debugfs or the like mounted", FindSpecialMount},
      {"mountinfo_host_path", "B9", "find a path of the host in the mount table", FindHostPath},
      {"host_process", "B3", "find a process of the host in /proc", FindHostProcess},
      {"oom_score", "H14", "exempt itself from the OOM killer", LowerOomScore},
  };
}

}  // namespace caisson::escape
