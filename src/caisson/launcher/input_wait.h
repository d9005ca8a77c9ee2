#pragma once

#include "caisson/os/fd.h"
#include "caisson/plan/launch_plan.h"

namespace caisson::launcher {

// Whether the main thread of a process listed in `processes`, a cgroup.procs, is blocked in a call that reads from
// `input`: the command's own input, not a pipe between two of its processes. Looks at the first 64 processes and for at
// most 5 ms; what cannot be found out is a no. Reads the kernel's numbers, never the memory of a process.
bool WaitsForInput(const os::Fd& processes, const plan::CommandInput& input);

}  // namespace caisson::launcher
