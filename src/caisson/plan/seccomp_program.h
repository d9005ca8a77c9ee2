#pragma once

#include <linux/filter.h>

#include <vector>

namespace caisson::plan {

// The two filters that hold a command, one above the other; of two verdicts the kernel takes the stricter one.
enum class FilterKind {
  // Installed once by PID 1 of the sandbox before it starts anything; every command inherits it.
  kGuest,
  // Added by PID 1 to each command: refuses the few calls that only PID 1 may make. Small, because its load is part
  // of every start.
  kCommand,
};

// What memfd_create(2) may do. kNonExecutable: all but executable memory files, where the sysctl vm.memfd_noexec holds
// the rest (Linux 6.3). kRefused: nothing, where there is no such sysctl and so every memory file can be executed.
enum class MemoryFiles { kNonExecutable, kRefused };

// The seccomp program (SECCOMP_SET_MODE_FILTER of seccomp(2)) that gives every call the verdict of syscall_table.h.
// Calls of another architecture kill the process, and so do x32 calls in kGuest. Pure; the program is valid only while
// the table has fewer than 256 ranges of equal verdict, since a jump spans at most 255 instructions: the test holds
// that.
std::vector<sock_filter> CompileFilter(FilterKind kind, MemoryFiles memory_files = MemoryFiles::kNonExecutable);

}  // namespace caisson::plan
