#pragma once

#include <linux/filter.h>

#include <cstdint>

namespace caisson::guest {

// Everything a command's first process does before its program runs, prepared by the guest: that process shares the
// guest's memory until it executes, so nothing here may allocate, lock or throw.
struct ChildPlan {
  int tasks[3] = {-1, -1, -1};  // cgroup v1 `tasks` files to join, -1: none
  int stdio[3] = {-1, -1, -1};
  bool has_terminal = false;  // stdio is one terminal, to become the controlling one
  std::uint32_t id = 0;       // uid and gid
  std::uint64_t file_size_limit = 0;
  // The rules to enter. kIsUnderRules: it was cloned by a thread that has.
  static constexpr int kIsUnderRules = -2;
  int landlock = -1;
  sock_fprog filter = {};
  const char* cwd = nullptr;
  char* const* argv = nullptr;
  char* const* envp = nullptr;
  const char* path = nullptr;  // the search path of a program without a slash

  // What failed, read by the guest when the child is gone.
  const char* failed_step = nullptr;
  int error = 0;
};

// Confines the calling process as `plan` says: cgroups, session, stdio, limits, identity, Landlock, system calls.
// Returns false with failed_step and error set.
bool Confine(ChildPlan& plan);

// Confines as `plan`, a ChildPlan, says, then executes the program. Never returns.
void RunCommandChild(void* plan);

}  // namespace caisson::guest
