#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace caisson::plan {

// Every x86-64 system call that has been reviewed, with what a sandbox may do with it. Constant data: the filter is
// compiled from it, and it answers "why was this refused". A number that is not here is refused with ENOSYS.
// Source: syscalls(2), arch/x86/entry/syscalls/syscall_64.tbl of the kernel.

// Which 32 bits of a 64-bit argument register a condition reads. Where the kernel takes an int, only the low half is
// judged, since the kernel drops the high one: a bit set there must not slip past a comparison.
enum class Half : std::uint8_t { kLow, kHigh };

enum class Relation : std::uint8_t {
  kIsOneOf,    // (half & mask) equals one of the values
  kIsNoneOf,   // (half & mask) equals none of them
  kHasAnyBit,  // (half & mask) is not zero; there are no values
};

struct Condition {
  std::uint8_t argument;  // 0..5
  Half half;
  std::uint32_t mask;
  Relation relation;
  std::span<const std::uint32_t> values;
};

// The call fails with `error` when all conditions hold.
struct Refusal {
  std::uint16_t error;  // errno
  std::span<const Condition> when;
};

// kEveryone: the verdict holds in the whole sandbox. kCommands: PID 1 of the sandbox may make the call, the verdict
// binds the commands it starts.
enum class Binds : std::uint8_t { kEveryone, kCommands };

struct Syscall {
  std::uint16_t number;
  std::string_view name;
  std::uint16_t error;                // errno of a call that is always refused, 0 when it is not
  std::span<const Refusal> refusals;  // of a call that depends on its arguments; the first that holds decides
  Binds binds;
  std::string_view why;  // of a refusal; empty for a call that is always allowed
};

// In the order of the numbers, each number once.
std::span<const Syscall> SyscallTable();

// The call of that number, nullptr when it has not been reviewed.
const Syscall* FindSyscall(std::uint32_t number);

}  // namespace caisson::plan
