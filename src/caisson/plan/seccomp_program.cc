#include "caisson/plan/seccomp_program.h"

#include <linux/audit.h>
#include <linux/seccomp.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "caisson/plan/syscall_table.h"

namespace caisson::plan {
namespace {

using Program = std::vector<sock_filter>;

constexpr std::uint32_t kX32Bit = 0x40000000;         // __X32_SYSCALL_BIT: these numbers are calls of the x32 ABI
constexpr std::uint32_t kFirstNegative = 0x80000000;  // the number is an int; syscall(-1) is a way to ask for ENOSYS

constexpr std::uint32_t kMemfdCreate = 319;

void Emit(Program& program, int code, std::uint32_t value) {
  program.push_back({static_cast<std::uint16_t>(code), 0, 0, value});
}

void EmitJump(Program& program, int comparison, std::uint32_t value) {
  Emit(program, BPF_JMP | comparison | BPF_K, value);
}

void EmitLoad(Program& program, std::size_t offset) {
  Emit(program, BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

void EmitReturn(Program& program, std::uint32_t action) { Emit(program, BPF_RET | BPF_K, action); }

constexpr std::uint32_t ReturnOf(std::uint16_t error) {
  return error == 0 ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | error;
}

// What a jump that leaves an instruction skips when it is to arrive at the end of the program as it stands.
std::uint8_t DistanceToEnd(const Program& program, std::size_t from) {
  return static_cast<std::uint8_t>(program.size() - from - 1);
}

// Successive numbers of one verdict, up to the first of the next range.
struct Range {
  std::uint32_t first;
  std::uint32_t action;  // SECCOMP_RET_*, when there are no refusals
  std::span<const Refusal> refusals;
};

void Append(std::vector<Range>& ranges, const Range& range) {
  if (!ranges.empty() && ranges.back().action == range.action &&
      ranges.back().refusals.data() == range.refusals.data()) {
    return;
  }
  ranges.push_back(range);
}

// The verdicts of PID 1 over all 2^32 numbers, in their order.
std::vector<Range> GuestRanges(MemoryFiles memory_files) {
  std::vector<Range> ranges;
  std::uint32_t next = 0;
  for (const Syscall& call : SyscallTable()) {
    if (call.number != next) Append(ranges, {next, ReturnOf(ENOSYS), {}});
    next = call.number + 1u;
    if (call.number == kMemfdCreate && memory_files == MemoryFiles::kRefused) {
      Append(ranges, {call.number, ReturnOf(ENOSYS), {}});
      continue;
    }
    const std::uint16_t error = call.binds == Binds::kCommands ? std::uint16_t{0} : call.error;
    Append(ranges, {call.number, ReturnOf(error), call.refusals});
  }
  Append(ranges, {next, ReturnOf(ENOSYS), {}});
  Append(ranges, {kX32Bit, SECCOMP_RET_KILL_PROCESS, {}});
  Append(ranges, {kFirstNegative, ReturnOf(ENOSYS), {}});
  return ranges;
}

// A jump whose target, the judgement of these refusals, is not laid out yet.
struct PendingJump {
  std::size_t at;
  std::span<const Refusal> refusals;
};

// A balanced search: left of each comparison lie the numbers below its value. n ranges make 2n - 1 instructions.
void EmitSearch(std::span<const Range> ranges, Program& program, std::vector<PendingJump>& pending) {
  const Range& range = ranges.front();
  if (ranges.size() == 1 && range.refusals.empty()) {
    EmitReturn(program, range.action);
    return;
  }
  if (ranges.size() == 1) {
    pending.push_back({program.size(), range.refusals});
    EmitJump(program, BPF_JA, 0);
    return;
  }
  const std::size_t middle = ranges.size() / 2;
  const std::size_t comparison = program.size();
  EmitJump(program, BPF_JGE, ranges[middle].first);
  EmitSearch(ranges.first(middle), program, pending);
  program[comparison].jt = DistanceToEnd(program, comparison);
  EmitSearch(ranges.subspan(middle), program, pending);
}

std::size_t OffsetOf(const Condition& condition) {
  // The architecture is little-endian: the low half comes first.
  return offsetof(seccomp_data, args) + condition.argument * sizeof(std::uint64_t) +
         (condition.half == Half::kHigh ? sizeof(std::uint32_t) : 0);
}

// Which way out of a comparison leads past the refusal, once its end is known.
struct Miss {
  std::size_t at;
  std::uint8_t sock_filter::* way;
};

// Falls through when the condition holds; adds the ways out when it does not.
void EmitCondition(const Condition& condition, Program& program, std::vector<Miss>& misses) {
  EmitLoad(program, OffsetOf(condition));
  if (condition.relation == Relation::kHasAnyBit) {
    misses.push_back({program.size(), &sock_filter::jf});
    EmitJump(program, BPF_JSET, condition.mask);
    return;
  }
  if (condition.mask != ~std::uint32_t{0}) Emit(program, BPF_ALU | BPF_AND | BPF_K, condition.mask);
  const std::size_t end = program.size() + condition.values.size();
  for (const std::uint32_t value : condition.values) {
    const std::size_t at = program.size();
    EmitJump(program, BPF_JEQ, value);
    if (condition.relation == Relation::kIsNoneOf) {
      misses.push_back({at, &sock_filter::jt});
    } else if (at + 1 == end) {
      misses.push_back({at, &sock_filter::jf});
    } else {
      program[at].jt = static_cast<std::uint8_t>(end - at - 1);
    }
  }
}

void EmitRefusals(std::span<const Refusal> refusals, Program& program) {
  for (const Refusal& refusal : refusals) {
    std::vector<Miss> misses;
    for (const Condition& condition : refusal.when) EmitCondition(condition, program, misses);
    EmitReturn(program, ReturnOf(refusal.error));
    for (const Miss& miss : misses) program[miss.at].*miss.way = DistanceToEnd(program, miss.at);
  }
  EmitReturn(program, SECCOMP_RET_ALLOW);
}

// Lays out each judgement once, however many calls share it.
void EmitPending(std::span<const PendingJump> pending, Program& program) {
  std::vector<PendingJump> laid_out;  // `at` is where the judgement starts
  for (const PendingJump& jump : pending) {
    const auto same = [&](const PendingJump& other) { return other.refusals.data() == jump.refusals.data(); };
    auto found = std::find_if(laid_out.begin(), laid_out.end(), same);
    if (found == laid_out.end()) {
      found = laid_out.insert(found, {program.size(), jump.refusals});
      EmitRefusals(jump.refusals, program);
    }
    program[jump.at].k = static_cast<std::uint32_t>(found->at - jump.at - 1);
  }
}

// Ends the process for a call of another architecture; leaves the number of the call loaded.
void EmitPrologue(Program& program) {
  EmitLoad(program, offsetof(seccomp_data, arch));
  EmitJump(program, BPF_JEQ, AUDIT_ARCH_X86_64);
  program.back().jt = 1;
  EmitReturn(program, SECCOMP_RET_KILL_PROCESS);
  EmitLoad(program, offsetof(seccomp_data, nr));
}

void EmitGuest(MemoryFiles memory_files, Program& program) {
  std::vector<PendingJump> pending;
  EmitSearch(GuestRanges(memory_files), program, pending);
  EmitPending(pending, program);
}

void EmitCommand(Program& program) {
  for (const Syscall& call : SyscallTable()) {
    if (call.binds != Binds::kCommands) continue;
    EmitJump(program, BPF_JEQ, call.number);
    program.back().jf = 1;
    EmitReturn(program, ReturnOf(call.error));
  }
  EmitReturn(program, SECCOMP_RET_ALLOW);
}

}  // namespace

std::vector<sock_filter> CompileFilter(FilterKind kind, MemoryFiles memory_files) {
  Program program;
  EmitPrologue(program);
  switch (kind) {
    case FilterKind::kGuest:
      EmitGuest(memory_files, program);
      break;
    case FilterKind::kCommand:
      EmitCommand(program);
      break;
  }
  return program;
}

}  // namespace caisson::plan
