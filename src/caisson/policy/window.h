#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "caisson/base/result.h"
#include "caisson/policy/rule.h"

namespace caisson::policy {

// "mon-fri", "sat,sun", "mon-wed,fri", "sat-mon": bit 0 of the result is Monday. Absent: none of these.
std::optional<std::uint8_t> ParseDays(std::string_view text);

// "09:00-18:00", "22:00-06:00", "00:00-24:00"; `from` and `to` differ. Absent: none of these.
struct Hours {
  std::chrono::minutes from{0};
  std::chrono::minutes to{0};
};
std::optional<Hours> ParseHours(std::string_view text);

bool Holds(const Window& window, Time time);
// The next moment after `time` at which it begins or ceases to hold; absent: never.
std::optional<Time> NextEdge(const Window& window, Time time);
// "mon-fri 09:00-18:00 Europe/Berlin"
std::string Describe(const Window& window);

}  // namespace caisson::policy
