#include "caisson/policy/window.h"

#include <algorithm>
#include <array>

#include "caisson/policy/zone.h"

namespace caisson::policy {
namespace {

using LocalTime = std::chrono::local_time<std::chrono::milliseconds>;
constexpr std::array<std::string_view, 7> kDays = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
constexpr std::chrono::minutes kWholeDay{24 * 60};

std::optional<unsigned> DayOf(std::string_view name) {
  for (unsigned i = 0; i < kDays.size(); ++i) {
    if (kDays.at(i) == name) return i;
  }
  return std::nullopt;
}

std::optional<std::chrono::minutes> MinuteOf(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  for (const std::size_t i : {0U, 1U, 3U, 4U}) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
  }
  const int hours = (text[0] - '0') * 10 + (text[1] - '0');
  const int minutes = (text[3] - '0') * 10 + (text[4] - '0');
  if (minutes > 59 || hours > 24 || (hours == 24 && minutes != 0)) return std::nullopt;
  return std::chrono::minutes{hours * 60 + minutes};
}

bool HasDay(const Window& window, std::chrono::local_days day) {
  const unsigned weekday = std::chrono::weekday{day}.iso_encoding() - 1;
  return (window.days >> weekday & 1U) != 0;
}

bool HoldsAt(const Window& window, LocalTime local) {
  const auto day = std::chrono::floor<std::chrono::days>(local);
  const auto clock = local - day;
  if (window.from < window.to) return clock >= window.from && clock < window.to && HasDay(window, day);
  return (clock >= window.from && HasDay(window, day)) ||
         (clock < window.to && HasDay(window, day - std::chrono::days{1}));
}

// The first moment after `local` at which a clock that is not changed shows an edge.
LocalTime NextOnClock(const Window& window, LocalTime local) {
  const auto day = std::chrono::floor<std::chrono::days>(local);
  std::optional<LocalTime> next;
  for (const std::chrono::minutes edge : {std::chrono::minutes{0}, window.from, window.to, kWholeDay}) {
    const LocalTime at = day + edge;
    if (at > local && (!next || at < *next)) next = at;
  }
  return *next;  // the end of the day is after every moment of it
}

}  // namespace

std::optional<std::uint8_t> ParseDays(std::string_view text) {
  std::uint8_t days = 0;
  while (true) {
    const std::string_view part = text.substr(0, text.find(','));
    const std::size_t dash = part.find('-');
    const auto first = DayOf(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : DayOf(part.substr(dash + 1));
    if (!first || !last) return std::nullopt;
    for (unsigned day = *first;; day = (day + 1) % 7) {
      days = static_cast<std::uint8_t>(days | 1U << day);
      if (day == *last) break;
    }
    if (part.size() == text.size()) return days;
    text.remove_prefix(part.size() + 1);
  }
}

std::optional<Hours> ParseHours(std::string_view text) {
  if (text.size() != 11 || text[5] != '-') return std::nullopt;
  const auto from = MinuteOf(text.substr(0, 5));
  const auto to = MinuteOf(text.substr(6));
  if (!from || !to || *from == *to || *from == kWholeDay) return std::nullopt;
  return Hours{.from = *from, .to = *to};
}

bool Holds(const Window& window, Time time) { return HoldsAt(window, window.zone->Local(time)); }

std::optional<Time> NextEdge(const Window& window, Time time) {
  const bool holds = Holds(window, time);
  // The clock comes past every edge within eight days: more steps mean that nothing changes.
  constexpr int kMostSteps = 64;
  for (int step = 0; step < kMostSteps; ++step) {
    const LocalTime local = window.zone->Local(time);
    Time next = time + (NextOnClock(window, local) - local);
    // A change of the clocks before it moves the edge, or is one.
    if (const auto change = window.zone->NextTransition(time); change && *change < next) next = *change;
    time = next;
    if (Holds(window, time) != holds) return time;
  }
  return std::nullopt;
}

std::string Describe(const Window& window) {
  std::string text = window.days_text;
  if (!window.hours_text.empty()) text += (text.empty() ? "" : " ") + window.hours_text;
  return text + (text.empty() ? "" : " ") + window.zone->name();
}

}  // namespace caisson::policy
