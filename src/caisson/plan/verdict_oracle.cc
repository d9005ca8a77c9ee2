#include "caisson/plan/verdict_oracle.h"

#include <linux/audit.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "caisson/plan/syscall_table.h"

namespace caisson::plan {
namespace {

bool Holds(const Condition& condition, const Arguments& arguments) {
  const std::uint64_t argument = arguments[condition.argument];
  const auto half = static_cast<std::uint32_t>(condition.half == Half::kLow ? argument : argument >> 32);
  const std::uint32_t masked = half & condition.mask;
  const bool found = std::find(condition.values.begin(), condition.values.end(), masked) != condition.values.end();
  switch (condition.relation) {
    case Relation::kIsOneOf:
      return found;
    case Relation::kIsNoneOf:
      return !found;
    case Relation::kHasAnyBit:
      return masked != 0;
  }
  return false;
}

}  // namespace

seccomp_data CallOf(std::uint32_t number, std::uint32_t architecture, const Arguments& arguments) {
  seccomp_data call = {};
  call.nr = static_cast<int>(number);
  call.arch = architecture;
  std::copy(arguments.begin(), arguments.end(), call.args);
  return call;
}

std::uint32_t Expected(FilterKind kind, const seccomp_data& data) {
  const auto number = static_cast<std::uint32_t>(data.nr);
  if (data.arch != AUDIT_ARCH_X86_64) return kKill;
  const Syscall* call = FindSyscall(number);
  if (kind == FilterKind::kCommand) {
    return call != nullptr && call->binds == Binds::kCommands ? Errno(call->error) : SECCOMP_RET_ALLOW;
  }
  if (number >= 0x40000000 && number < 0x80000000) return kKill;
  if (call == nullptr) return Errno(ENOSYS);
  if (call->binds == Binds::kCommands) return SECCOMP_RET_ALLOW;
  if (call->error != 0) return Errno(call->error);
  Arguments arguments;
  std::copy(std::begin(data.args), std::end(data.args), arguments.begin());
  for (const Refusal& refusal : call->refusals) {
    const auto holds = [&](const Condition& condition) { return Holds(condition, arguments); };
    if (std::all_of(refusal.when.begin(), refusal.when.end(), holds)) return Errno(refusal.error);
  }
  return SECCOMP_RET_ALLOW;
}

}  // namespace caisson::plan
