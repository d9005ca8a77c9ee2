#pragma once

#include <string_view>

#include "caisson/base/error.h"

namespace caisson::client {

// The error that a reply stands for: its problem object (RFC 9457, with Caisson's code, cause, remediation, retryable
// and details) where the body is one, otherwise one made from the status. Pure; the body may be anything.
Error ErrorOfReply(unsigned status, std::string_view body);

}  // namespace caisson::client
