#pragma once

#include <linux/sched.h>
#include <sys/types.h>

namespace caisson::os {

// What the new process runs; it must execute a program or exit, and until then may only make system calls: it shares
// the caller's memory.
using CloneBody = void (*)(void* argument);

// As vfork(2), but by clone3(2) with the caller's `args` (flags such as CLONE_INTO_CGROUP or CLONE_NEWPID; CLONE_VM and
// CLONE_VFORK are added) and on a stack of its own: returns when the process has executed or ended. Spares the copy of
// the page tables. Returns the pid, or -1 with errno. Not for concurrent use: callers that bring no stack in `args`
// share one of 64 KiB.
pid_t CloneSharingMemory(clone_args args, CloneBody body, void* argument);

}  // namespace caisson::os
