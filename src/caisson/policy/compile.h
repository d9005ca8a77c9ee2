#pragma once

#include <optional>
#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/os/program_index.h"
#include "caisson/plan/kernel_plan.h"
#include "caisson/policy/decide.h"
#include "caisson/policy/policy.h"

namespace caisson::policy {

// From a policy to what the kernel enforces of it. Pure.

// Which programs a policy lets run at all, which decides how a sandbox's file systems are mounted. kAnything: every
// file; kWorkspaceToo: those of the image that are named, and whatever lies in the workspace; kNamed: nothing but those
// that are named, so that every place that can be written is noexec.
enum class Execution : std::uint8_t { kAnything, kWorkspaceToo, kNamed };
Execution ExecutionOf(const Policy& policy);

// What of the kernel the plan rests on, beside Landlock itself.
struct KernelFeatures {
  bool controls_truncation = true;  // Landlock version 3, Linux 6.2
};

// Whether the kernel can hold the policy, with any image: a deny inside of what is allowed, a command that is denied
// where all others may run, a file that may be read and not written where truncation is not controlled. To be asked
// when a sandbox is given the policy. Errors: kUnsupported, naming the rule, the mechanism and what to do.
Status CheckEnforceable(const Policy& policy, const KernelFeatures& features);

// The plan for one call, at a moment: of the rules that hold then. `lent`: those of the decision. A rule with max_uses,
// and the programs of one with on_end = "stop", are granted to the calls that they are lent to alone. Absent: the
// policy allows everything, and the sandbox's own confinement is all there is. Errors: as of CheckEnforceable;
// kUnsupported too when a program of the image is many in one file (busybox) and not all of them are allowed;
// kResourceExhausted beyond plan::kMostGrants.
Result<std::optional<plan::KernelPlan>> Compile(const Policy& policy, const os::ProgramIndex& index,
                                                const Situation& situation, const std::vector<const Rule*>& lent);

// Sentences for a person about what the kernel holds of this policy and what only the tool does.
std::vector<std::string> DescribeEnforcement(const Policy& policy);

}  // namespace caisson::policy
