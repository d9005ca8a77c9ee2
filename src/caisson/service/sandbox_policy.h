#pragma once

#include "caisson/base/result.h"
#include "caisson/plan/launch_plan.h"
#include "caisson/policy/policy.h"
#include "caisson/service/requests.h"
#include "caisson/state/policy_record.h"

namespace caisson::service {

// The policy of a sandbox, from what a caller gives to what is recorded, and back. Private to the module.

// What a sandbox follows that was made without one.
inline constexpr const char* kPolicyOfAgents = "standard";

struct CheckedPolicy {
  policy::Policy policy;
  state::PolicyRecord record;
};
// Reads a policy, and asks whether this kernel can hold it. `request`: absent: kPolicyOfAgents. Errors:
// kInvalidArgument with the place of the mistake, kUnsupported.
Result<CheckedPolicy> CheckPolicy(const std::optional<PolicyRequest>& request);

// kPolicyOfAgents, whether this kernel can hold it or not: a tool that is called says so.
Result<state::PolicyRecord> DefaultPolicy();

// The same again from a record. A preset is what it was when it was recorded, whatever this program's says now. Errors:
// as of policy::Policy::Read, since a zone's data may be gone.
Result<policy::Policy> PolicyOf(const state::PolicyRecord& record);
PolicyInfo InfoOf(const state::PolicyRecord& record);

// Whether a sandbox that was made with `made` can be held to it. Errors: kConflict.
Status CheckExecution(plan::Execution made, const policy::Policy& policy);

}  // namespace caisson::service
