#pragma once

#include <string>

#include "caisson/policy/rule.h"

namespace caisson::policy {

// "2027-01-01T00:00:00Z", with milliseconds when there are any.
std::string MomentText(Time time);

}  // namespace caisson::policy
