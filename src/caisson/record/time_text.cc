#include "caisson/record/time_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace caisson::record {

std::string TimeText(Time time) {
  using std::chrono::days;
  using std::chrono::sys_days;
  constexpr std::chrono::year kEnd{10000};
  const Time last = sys_days(kEnd / 1 / 1) - std::chrono::milliseconds(1);
  const Time shown = std::clamp(time, Time(), last);
  const auto day = std::chrono::floor<days>(shown);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(shown - day);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02ld:%02ld:%02ld.%03ldZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
  return text.data();
}

}  // namespace caisson::record
