#include "caisson/os/cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <memory>

#include "caisson/os/write_child.h"

namespace caisson::os {
namespace {

// cgroup.events has two short lines.
constexpr std::size_t kMaxEvents = 4096;

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

Status WriteFile(const Fd& directory, const char* name, const std::string& value) {
  const Fd file(openat(directory.get(), name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid()) return Fail(Error::FromErrno(errno, std::string("cannot open the cgroup file ") + name));
  if (const int error = WriteWhole(file.get(), value.data(), value.size()); error != 0) {
    return Fail(Error::FromErrno(error, std::string("cannot set the cgroup file ") + name));
  }
  return {};
}

// Only that the file is not there lets the limit be missing; one that cannot be set is an error.
Status WriteFileIfPresent(const Fd& directory, const char* name, const std::string& value) {
  Status written = WriteFile(directory, name, value);
  if (!written && written.error().errno_value() == ENOENT) return {};
  return written;
}

Result<Fd> OpenFile(const Fd& directory, const char* name, int flags) {
  Fd file(openat(directory.get(), name, flags | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid()) return Fail(Error::FromErrno(errno, std::string("cannot open the cgroup file ") + name));
  return file;
}

std::uint64_t NumberAfter(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ' ') continue;
    std::uint64_t value = 0;
    std::from_chars(line.data() + key.size() + 1, line.data() + line.size(), value);
    return value;
  }
  return 0;
}

}  // namespace

void Cgroup::RemoveBelow(int directory) {
  const Fd again(openat(directory, ".", kDirectory));
  if (!again.valid()) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(fdopendir(fcntl(again.get(), F_DUPFD_CLOEXEC, 0)), closedir);
  if (listing == nullptr) return;
  while (const dirent* entry = readdir(listing.get())) {
    if (entry->d_type != DT_DIR || entry->d_name[0] == '.') continue;
    if (const Fd child(openat(directory, entry->d_name, kDirectory)); child.valid()) RemoveBelow(child.get());
    unlinkat(directory, entry->d_name, AT_REMOVEDIR);
  }
}

Cgroup Cgroup::FromDirectories(CgroupMode mode, std::vector<Fd> directories) { return {mode, std::move(directories)}; }

std::vector<int> Cgroup::Directories() const {
  std::vector<int> fds;
  for (const Fd& directory : directories_) fds.push_back(directory.get());
  return fds;
}

Result<Cgroup> Cgroup::OpenOrMakeChild(const std::string& name) const {
  std::vector<Fd> children;
  for (const Fd& directory : directories_) {
    // A cgroup that somebody removes in between is made again.
    Fd child;
    for (int attempt = 0; attempt < 100 && !child.valid(); ++attempt) {
      if (mkdirat(directory.get(), name.c_str(), 0755) != 0 && errno != EEXIST) {
        return Fail(Error::FromErrno(errno, "cannot make the cgroup " + name)
                        .Remedy("Caisson needs writable cgroups: mount the cgroup file systems read-write"));
      }
      child.Reset(openat(directory.get(), name.c_str(), kDirectory));
    }
    if (!child.valid()) return Fail(Error::FromErrno(errno, "cannot open the cgroup " + name));
    children.push_back(std::move(child));
  }
  return Cgroup(mode_, std::move(children));
}

Result<Cgroup> Cgroup::MakeChild(const std::string& name) const {
  std::vector<Fd> children;
  for (const Fd& directory : directories_) {
    if (mkdirat(directory.get(), name.c_str(), 0755) == 0) {
      children.emplace_back(openat(directory.get(), name.c_str(), kDirectory));
      if (children.back().valid()) continue;
    }
    if (errno != EEXIST) return Fail(Error::FromErrno(errno, "cannot make the cgroup " + name));
    CAISSON_CHECK_OK(RemoveChild(name));
    return MakeChild(name);
  }
  return Cgroup(mode_, std::move(children));
}

Status Cgroup::RemoveChild(const std::string& name) const {
  if (const Fd child(openat(unified(), name.c_str(), kDirectory)); child.valid()) {
    (void)WriteFile(child, "cgroup.kill", "1");  // fails only when the cgroup is already going away
  }
  const Deadline deadline = Deadline::In(std::chrono::seconds(2));
  while (!TryRemove(name)) {
    if (deadline.Passed()) return Fail(Error(Code::kConflict, "the cgroup " + name + " does not empty"));
    poll(nullptr, 0, 1);  // the kernel gives no event on v1 when a killed process has left
  }
  return {};
}

bool Cgroup::RemoveChildIfUnused(const std::string& name) const {
  // cgroup2 first: while a process is in there, the others are its too.
  for (const Fd& directory : directories_) {
    if (unlinkat(directory.get(), name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) return false;
  }
  return true;
}

Status Cgroup::EnableControllers() const {
  if (mode_ == CgroupMode::kHybrid) return {};
  return WriteFile(directories_[0], "cgroup.subtree_control", "+memory +cpu +pids");
}

Status Cgroup::LimitMemory(Bytes bytes) const {
  const std::string value = std::to_string(bytes.value);
  if (mode_ == CgroupMode::kUnified) {
    CAISSON_CHECK_OK(WriteFile(memory(), "memory.max", value));
    // Absent where the kernel has no swap accounting, and then nothing of the cgroup is swapped beyond the limit's
    // count.
    return WriteFileIfPresent(memory(), "memory.swap.max", "0");
  }
  CAISSON_CHECK_OK(WriteFile(memory(), "memory.limit_in_bytes", value));
  return WriteFileIfPresent(memory(), "memory.memsw.limit_in_bytes", value);
}

Status Cgroup::LimitCpu(MilliCpus cpus) const {
  constexpr std::uint64_t kPeriodUs = 100'000;
  const std::string quota = std::to_string(cpus.value * kPeriodUs / 1000);
  if (mode_ == CgroupMode::kUnified) return WriteFile(cpu(), "cpu.max", quota + " " + std::to_string(kPeriodUs));
  return WriteFile(cpu(), "cpu.cfs_quota_us", quota);  // the period is 100 ms from birth
}

Status Cgroup::LimitPids(std::uint32_t count) const { return WriteFile(pids(), "pids.max", std::to_string(count)); }

Status Cgroup::Set(Freezer freezer) const {
  return WriteFile(directories_[0], "cgroup.freeze", freezer == Freezer::kFrozen ? "1" : "0");
}

Result<bool> Cgroup::IsFrozen() const {
  CAISSON_TRY(const os::Fd state, OpenState());
  CAISSON_TRY(const std::string text, ReadAll(state.get(), kMaxEvents));
  return SaysFrozen(text);
}

Status Cgroup::SetCpuWeight(std::uint32_t weight) const {
  if (mode_ == CgroupMode::kUnified) return WriteFile(cpu(), "cpu.weight", std::to_string(weight));
  return WriteFile(cpu(), "cpu.shares", std::to_string(weight * 1024 / 100));
}

Status Cgroup::DelegateTo(std::uint32_t uid) const {
  if (fchownat(unified(), "cgroup.procs", uid, uid, AT_SYMLINK_NOFOLLOW) != 0) {
    return Fail(Error::FromErrno(errno, "cannot delegate a cgroup"));
  }
  return {};
}

Result<Fd> Cgroup::OpenKill() const { return OpenFile(directories_[0], "cgroup.kill", O_WRONLY); }

Result<Fd> Cgroup::OpenState() const { return OpenFile(directories_[0], "cgroup.events", O_RDONLY); }

Result<Fd> Cgroup::OpenCpuStat() const { return OpenFile(directories_[0], "cpu.stat", O_RDONLY); }

Fd Cgroup::OpenMemoryPeak() const {
  const char* name = mode_ == CgroupMode::kUnified ? "memory.peak" : "memory.max_usage_in_bytes";
  const int writable = openat(memory().get(), name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  return Fd(writable >= 0 ? writable : openat(memory().get(), name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
}

Result<Fd> Cgroup::OpenMemoryEvents() const {
  return OpenFile(memory(), mode_ == CgroupMode::kUnified ? "memory.events" : "memory.oom_control", O_RDONLY);
}

Result<Fd> Cgroup::OpenProcessEvents() const { return OpenFile(pids(), "pids.events", O_RDONLY); }

Fd Cgroup::OpenOwnProcessEvents() const {
  if (mode_ == CgroupMode::kHybrid) return Fd();
  return Fd(openat(pids().get(), "pids.events.local", O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
}

Result<Fd> Cgroup::OpenChildProcesses(const std::string& name) const {
  const Fd child(openat(unified(), name.c_str(), kDirectory));
  if (!child.valid()) return Fail(Error::FromErrno(errno, "cannot open the cgroup " + name));
  return OpenFile(child, "cgroup.procs", O_RDONLY);
}

Result<std::vector<Fd>> Cgroup::OpenTasks() const {
  std::vector<Fd> files;
  if (mode_ == CgroupMode::kUnified) return files;
  for (const Fd* directory : {&memory(), &cpu(), &pids()}) {
    CAISSON_TRY(Fd file, OpenFile(*directory, "tasks", O_WRONLY));
    files.push_back(std::move(file));
  }
  return files;
}

std::uint64_t OomKills(std::string_view text) { return NumberAfter(text, "oom_kill"); }

std::uint64_t ProcessLimitHits(std::string_view text) { return NumberAfter(text, "max"); }

bool SaysFrozen(std::string_view text) { return NumberAfter(text, "frozen") != 0; }

bool IsPopulated(std::string_view text) { return NumberAfter(text, "populated") != 0; }

std::uint64_t CpuMicroseconds(std::string_view text) { return NumberAfter(text, "usage_usec"); }

}  // namespace caisson::os
