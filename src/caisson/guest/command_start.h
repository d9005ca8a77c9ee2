#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/guest/command_child.h"
#include "caisson/guest/kernel_plans.h"
#include "caisson/os/fd.h"
#include "caisson/os/landlock.h"
#include "caisson/proto/guest.pb.h"

namespace caisson::guest {

// What every command of this sandbox is confined by.
struct Confinement {
  os::LandlockRules landlock;
  KernelPlans plans;
  std::string command_filter;
  std::uint64_t file_size_limit = 0;
};

// A command that runs.
struct Started {
  pid_t pid = -1;
  std::vector<os::Fd> host_ends;  // for the engine: stdin, stdout, stderr, or the terminal
};

// Why it does not: the step and its errno.
struct NotStarted {
  std::string step;
  int error = 0;
};

// Starts a command, or a file operation in place of a program, in the leaf whose descriptors are given: born in its
// cgroup2, then confined. Step "plan" with ESTALE: there is no such plan (any more). Returns when the program runs.
// Kernel: clone3(2) with CLONE_INTO_CGROUP, 5.7.
tl::expected<Started, NotStarted> StartCommand(const proto::StartCommand& request, const std::vector<os::Fd>& leaf,
                                               Confinement& confinement);

}  // namespace caisson::guest
