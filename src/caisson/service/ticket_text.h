#pragma once

#include <string>
#include <string_view>

#include "caisson/base/result.h"
#include "caisson/plan/launch_plan.h"

namespace caisson::service {

// A ticket as text: 32 hexadecimal digits in lower case. Errors: kInvalidArgument.
Result<plan::Ticket> ParseTicket(std::string_view text);
std::string FormatTicket(const plan::Ticket& ticket);

}  // namespace caisson::service
