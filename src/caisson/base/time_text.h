#pragma once

#include <cstdint>
#include <string>

namespace caisson {

// "2027-01-31T09:30:00.125Z", of milliseconds since 1970. Source: RFC 3339.
std::string TimeText(std::int64_t unix_ms);

}  // namespace caisson
