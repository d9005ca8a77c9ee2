#include "caisson/launcher/leaves.h"

#include <algorithm>

#include "caisson/base/weakened.h"

namespace caisson::launcher {

std::uint32_t LeafPids(std::uint32_t sandbox_pids) {
  const std::uint32_t reserve = std::max<std::uint32_t>(sandbox_pids / 8, 8);
  return sandbox_pids > reserve ? sandbox_pids - reserve : 1;
}

Result<LeafFds> OpenLeaf(const os::Cgroup& leaf, const os::Cgroup& sandbox, std::uint32_t sandbox_pids,
                         std::uint32_t guest_uid) {
  if (!Weakened("process_limit")) {
    CAISSON_CHECK_OK(leaf.LimitPids(LeafPids(sandbox_pids)));
  }
  CAISSON_CHECK_OK(leaf.DelegateTo(guest_uid));
  LeafFds fds;
  CAISSON_TRY(os::Fd kill, leaf.OpenKill());
  CAISSON_TRY(os::Fd state, leaf.OpenState());
  CAISSON_TRY(os::Fd cpu, leaf.OpenCpuStat());
  CAISSON_TRY(os::Fd events, leaf.OpenMemoryEvents());
  os::Fd peak = leaf.OpenMemoryPeak();
  CAISSON_TRY(os::Fd processes, leaf.OpenProcessEvents());
  os::Fd sandbox_processes = sandbox.OpenOwnProcessEvents();
  // A file that is not there has its place taken by another one: a message has no empty descriptors.
  if (!peak.valid()) {
    CAISSON_TRY(peak, events.Duplicate());
  }
  if (!sandbox_processes.valid()) {
    CAISSON_TRY(sandbox_processes, processes.Duplicate());
  }
  fds.engine.push_back(std::move(kill));
  fds.engine.push_back(std::move(state));
  fds.engine.push_back(std::move(cpu));
  fds.engine.push_back(std::move(peak));
  fds.engine.push_back(std::move(events));
  fds.engine.push_back(std::move(processes));
  fds.engine.push_back(std::move(sandbox_processes));
  CAISSON_TRY(os::Fd directory, leaf.DuplicateUnified());
  fds.guest.push_back(std::move(directory));
  CAISSON_TRY(auto tasks, leaf.OpenTasks());
  for (os::Fd& file : tasks) fds.guest.push_back(std::move(file));
  return fds;
}

}  // namespace caisson::launcher
