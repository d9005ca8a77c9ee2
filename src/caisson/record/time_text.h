#pragma once

#include <string>

#include "caisson/record/entry.h"

namespace caisson::record {

// "2027-01-01T00:00:00.000Z", always 24 characters, so that the order of texts is that of times. Times outside the
// years 1970 to 9999 become the nearest inside. Source: RFC 3339.
std::string TimeText(Time time);

}  // namespace caisson::record
