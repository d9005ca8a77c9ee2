#pragma once

#include "caisson/base/error.h"

namespace boost::json {
class object;
}

namespace caisson::wire {

// {"code","message","cause","remediation","retryable","details"}: what an error says to every face. Texts that are not
// there are null.
boost::json::object ErrorObject(const Error& error);

}  // namespace caisson::wire
