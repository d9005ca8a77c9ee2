#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "caisson/os/fd.h"

namespace caisson::os {

// The system call that a thread is blocked in, with its arguments as the thread gave them: numbers, never followed.
struct BlockedCall {
  long number = 0;
  std::array<std::uint64_t, 6> arguments{};
};

// From the text of /proc/PID/syscall; absent when the thread runs or is blocked elsewhere. Source: proc(5).
std::optional<BlockedCall> ParseBlockedCall(std::string_view text);

// Of the main thread of a process, named by its folder in proc. Needs the rights of ptrace(2) over it.
std::optional<BlockedCall> BlockedCallOf(const Fd& process_folder);

// The descriptor that the call waits to read from: read(2) and its kin, splice(2), tee(2), sendfile(2), and select(2)
// of descriptor 0 alone. Absent for all others, also for poll(2) and epoll_wait(2): which descriptors those wait for is
// in the memory of the process.
std::optional<int> AwaitedDescriptor(const BlockedCall& call);

}  // namespace caisson::os
