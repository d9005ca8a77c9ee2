#pragma once

#include <string>
#include <string_view>

#include "caisson/base/result.h"
#include "caisson/plan/launch_plan.h"

namespace caisson::plan {

// A ticket as text: 32 hexadecimal digits in lower case. Errors: kInvalidArgument.
Result<Ticket> ParseTicket(std::string_view text);
std::string FormatTicket(const Ticket& ticket);

}  // namespace caisson::plan
