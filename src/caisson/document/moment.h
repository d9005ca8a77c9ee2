#pragma once

#include <optional>
#include <string_view>

#include "caisson/document/document.h"

namespace caisson::document {

// A date and time of RFC 3339 with an offset: "2027-01-01T00:00:00Z", "2027-01-01 02:00:00.5+02:00". Fractions below a
// millisecond are cut off. Nothing for what is none: also a day that its month does not have, and a leap second, which
// no clock of ours shows.
std::optional<Time> ParseMoment(std::string_view text);

// The moment of a date and time that are `offset` ahead of UTC; nothing when there is no such day.
std::optional<Time> MomentOf(std::chrono::year_month_day day, std::chrono::milliseconds of_day,
                             std::chrono::minutes offset);

}  // namespace caisson::document
