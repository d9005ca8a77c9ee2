#pragma once

#include <linux/seccomp.h>

#include <array>
#include <cstdint>

#include "caisson/plan/seccomp_program.h"

namespace caisson::plan {

// Test support: the verdicts that the filters must give, from the table of system calls as its header describes it,
// without a program.

using Arguments = std::array<std::uint64_t, 6>;

inline constexpr std::uint32_t kKill = SECCOMP_RET_KILL_PROCESS;

constexpr std::uint32_t Errno(int error) { return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error); }

// A call as a filter sees it (struct seccomp_data).
seccomp_data CallOf(std::uint32_t number, std::uint32_t architecture, const Arguments& arguments);

// The SECCOMP_RET_* value for that call.
std::uint32_t Expected(FilterKind kind, const seccomp_data& data);

}  // namespace caisson::plan
