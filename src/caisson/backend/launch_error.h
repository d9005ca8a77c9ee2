#pragma once

#include "caisson/base/error.h"
#include "caisson/plan/launch_plan.h"

namespace caisson::backend {

// What a launcher's failed reply means for a person: which primitive lacks and what to do about it.
Error ExplainFailure(const plan::LaunchReply& reply);

}  // namespace caisson::backend
