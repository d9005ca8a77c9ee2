#include "caisson/plan/bpf_interpreter.h"

#include <algorithm>
#include <cstring>

namespace caisson::plan {
namespace {

constexpr bool IsConditional(std::uint16_t code) { return BPF_CLASS(code) == BPF_JMP && BPF_OP(code) != BPF_JA; }

// nullopt for a comparison that is unknown here.
std::optional<bool> Compare(const sock_filter& jump, std::uint32_t accumulator) {
  switch (jump.code) {
    case BPF_JMP | BPF_JEQ | BPF_K:
      return accumulator == jump.k;
    case BPF_JMP | BPF_JGE | BPF_K:
      return accumulator >= jump.k;
    case BPF_JMP | BPF_JSET | BPF_K:
      return (accumulator & jump.k) != 0;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::uint32_t> BpfInterpreter::Run(const seccomp_data& call) {
  std::uint32_t accumulator = 0;
  std::size_t steps = 0;
  for (std::uint64_t at = 0; at < program_.size(); ++at) {
    const sock_filter& instruction = program_[at];
    Reach& reach = reached_[at];
    reach.executed = true;
    longest_run_ = std::max(longest_run_, ++steps);
    if (IsConditional(instruction.code)) {
      const std::optional<bool> holds = Compare(instruction, accumulator);
      if (!holds) return std::nullopt;
      (*holds ? reach.taken : reach.passed) = true;
      at += *holds ? instruction.jt : instruction.jf;
      continue;
    }
    switch (instruction.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (instruction.k % sizeof(accumulator) != 0 || instruction.k >= sizeof(call)) return std::nullopt;
        std::memcpy(&accumulator, reinterpret_cast<const char*>(&call) + instruction.k, sizeof(accumulator));
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        accumulator &= instruction.k;
        break;
      case BPF_JMP | BPF_JA:
        at += instruction.k;
        break;
      case BPF_RET | BPF_K:
        return instruction.k;
      default:
        return std::nullopt;
    }
  }
  return std::nullopt;
}

std::vector<std::size_t> BpfInterpreter::Unreached() const {
  std::vector<std::size_t> found;
  for (std::size_t at = 0; at < program_.size(); ++at) {
    if (!reached_[at].executed) found.push_back(at);
  }
  return found;
}

std::vector<std::size_t> BpfInterpreter::Undecided() const {
  std::vector<std::size_t> found;
  for (std::size_t at = 0; at < program_.size(); ++at) {
    if (IsConditional(program_[at].code) && !(reached_[at].taken && reached_[at].passed)) found.push_back(at);
  }
  return found;
}

}  // namespace caisson::plan
