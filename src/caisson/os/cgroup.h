#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "caisson/base/deadline.h"
#include "caisson/base/result.h"
#include "caisson/base/units.h"
#include "caisson/os/fd.h"

namespace caisson::os {

// How a host mounts its cgroups. kUnified: every controller on cgroup2. kHybrid: memory, cpu and pids on cgroup v1 and
// a cgroup2 tree beside them, whose cgroup.kill and cpu.stat work without controllers. A host with v1 alone counts as
// hybrid: the kernel always has a cgroup2 tree, and one is mounted privately.
enum class CgroupMode : std::uint32_t { kUnified, kHybrid };

// One cgroup, in every hierarchy that Caisson uses, held by descriptors of its directories. Closing them leaves the
// cgroup in place: RemoveChild ends it. Not thread-safe. Source: cgroups(7), the kernel's cgroup-v2 document.
class Cgroup {
 public:
  // The hierarchies' roots. Errors: kUnsupported naming the controller that lacks.
  static Result<Cgroup> Roots();
  // Takes over descriptors that `Directories` of the same mode gave.
  static Cgroup FromDirectories(CgroupMode mode, std::vector<Fd> directories);

  CgroupMode mode() const { return mode_; }
  // Borrowed: the cgroup2 directory, then in hybrid mode those of memory, cpu and pids.
  std::vector<int> Directories() const;
  int unified() const { return directories_[0].get(); }
  Result<Fd> DuplicateUnified() const { return directories_[0].Duplicate(); }

  // Makes `name` below this cgroup. A left-over of that name is emptied and removed first.
  Result<Cgroup> MakeChild(const std::string& name) const;
  // Makes it or takes the existing one, for the folder that all of Caisson's cgroups lie in.
  Result<Cgroup> OpenOrMakeChild(const std::string& name) const;
  // Kills what lives in `name`, removes it and everything below. Errors: kConflict when it does not empty in 2 s.
  Status RemoveChild(const std::string& name) const;
  // Removes `name` when it holds no process and no cgroup; what is still in use is left and not an error. True when it
  // is gone.
  bool RemoveChildIfUnused(const std::string& name) const;

  // Makes `name` below this cgroup and locks its cgroup2 directory for as long as a descriptor of it is open anywhere:
  // whoever shares this host's cgroups sees that it has an owner, and that of a dead process has none. A left-over
  // without owner and processes is removed first. Errors: kAlreadyExists when it has an owner or holds a process.
  // Source: flock(2).
  Result<Cgroup> MakeOwnedChild(const std::string& name) const;
  // The child of that name; a hierarchy without it has an invalid descriptor in it, with which only Children and
  // RemoveUnownedChild work. Nothing when no hierarchy has it.
  Result<std::optional<Cgroup>> FindChild(const std::string& name) const;
  enum class Ownership { kNone, kOwned };
  struct Child {
    std::string name;
    Ownership ownership = Ownership::kNone;
  };
  // What lies below in any hierarchy, by name. This and the next wait for a lock on this cgroup, so they are for one
  // that is not owned itself.
  Result<std::vector<Child>> Children() const;
  // Removes `name` and what lies below unless it has an owner or still holds a process at the deadline; kills nothing.
  // True when it is gone.
  Result<bool> RemoveUnownedChild(const std::string& name, const Deadline& deadline) const;

  // Lets children of this cgroup have limits of their own (cgroup2 only; a no-op on v1).
  Status EnableControllers() const;
  Status LimitMemory(Bytes bytes) const;  // swap is not allowed beyond it
  Status LimitCpu(MilliCpus cpus) const;
  Status LimitPids(std::uint32_t count) const;
  // Stops every process in it and below where it is, or lets them go on: cgroup.freeze of cgroup2, 5.2. The kernel
  // needs a moment, which IsFrozen tells.
  enum class Freezer { kFrozen, kThawed };
  Status Set(Freezer freezer) const;
  Result<bool> IsFrozen() const;
  // Relative share when the processors are contended; the kernel's default is 100.
  Status SetCpuWeight(std::uint32_t weight) const;
  // Allows a process that runs as `uid` to start children in this cgroup (CLONE_INTO_CGROUP needs write access to
  // cgroup.procs here and in the common ancestor).
  Status DelegateTo(std::uint32_t uid) const;

  // Files of this cgroup. Kill: cgroup.kill (5.14), for writing "1". State: cgroup.events. Cpu: cpu.stat of cgroup2.
  // MemoryPeak and MemoryEvents: of whichever hierarchy has the memory controller; the peak file may be absent (invalid
  // Fd) before 5.19, and is writable where writing resets it (cgroup v1, and cgroup2 from 6.12).
  Result<Fd> OpenKill() const;
  Result<Fd> OpenState() const;
  Result<Fd> OpenCpuStat() const;
  Fd OpenMemoryPeak() const;
  // ProcessEvents: pids.events. What it counts differs: on cgroup v1, and on cgroup2 before Linux 6.11, every process
  // that this cgroup was refused, whichever limit refused it; since then only those that this cgroup's own limit or one
  // below it refused. OwnProcessEvents: pids.events.local, those that its own limit refused; invalid where the first
  // kind counts.
  Result<Fd> OpenProcessEvents() const;
  Fd OpenOwnProcessEvents() const;
  // cgroup.procs of the child `name`, for reading.
  Result<Fd> OpenChildProcesses(const std::string& name) const;
  Result<Fd> OpenMemoryEvents() const;
  // In hybrid mode the `tasks` files of memory, cpu and pids: a single-threaded process that writes "0" there moves
  // itself without the global lock that a write to cgroup.procs waits for (measured: 20 us against 7-15 ms).
  Result<std::vector<Fd>> OpenTasks() const;

 private:
  Cgroup(CgroupMode mode, std::vector<Fd> directories) : mode_(mode), directories_(std::move(directories)) {}
  // Removes the cgroups below a directory, deepest first; what is in use stays.
  static void RemoveBelow(int directory);
  // Removes `name` and what lies below in every hierarchy; false when something is in use.
  bool TryRemove(const std::string& name) const;
  const Fd& memory() const { return directories_[mode_ == CgroupMode::kUnified ? 0 : 1]; }
  const Fd& cpu() const { return directories_[mode_ == CgroupMode::kUnified ? 0 : 2]; }
  const Fd& pids() const { return directories_[mode_ == CgroupMode::kUnified ? 0 : 3]; }

  CgroupMode mode_;
  std::vector<Fd> directories_;
};

// The count of processes the kernel killed at the memory limit, from the text of memory.events (v2) or
// memory.oom_control (v1): the value of the line "oom_kill N". 0 when there is none.
std::uint64_t OomKills(std::string_view text);
// How often a process was refused at a limit, from the text of pids.events: the value of the line "max N".
std::uint64_t ProcessLimitHits(std::string_view text);
// Whether a cgroup or one below it holds a process, and whether all of them are frozen, from the text of cgroup.events.
bool IsPopulated(std::string_view text);
bool SaysFrozen(std::string_view text);
// `usage_usec` of a cpu.stat text, in microseconds.
std::uint64_t CpuMicroseconds(std::string_view text);

}  // namespace caisson::os
