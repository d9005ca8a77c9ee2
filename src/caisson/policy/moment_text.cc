#include "caisson/policy/moment_text.h"

#include <array>
#include <cstdio>

namespace caisson::policy {

std::string MomentText(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  std::string out = text.data();
  if (const auto rest = clock.subseconds().count(); rest != 0) {
    std::snprintf(text.data(), text.size(), ".%03d", static_cast<int>(rest));
    out += text.data();
  }
  return out + "Z";
}

}  // namespace caisson::policy
