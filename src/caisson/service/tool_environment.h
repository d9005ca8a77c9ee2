#pragma once

#include "caisson/base/result.h"
#include "caisson/service/own_gate.h"
#include "caisson/service/records.h"
#include "caisson/tool/data.h"

namespace caisson::service {

// What the tool get_environment tells: the sandbox as it was made, and what its policy allows now, in few words.
// Private to the module. Errors: those of OwnGate::Get.
Result<tool::Environment> DescribeEnvironment(const Settings& settings, OwnGate& gate);

}  // namespace caisson::service
