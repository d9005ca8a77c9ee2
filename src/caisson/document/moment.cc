#include "caisson/document/moment.h"

#include <algorithm>

namespace caisson::document {
namespace {

// Takes fixed forms from the front of a text.
class Front {
 public:
  explicit Front(std::string_view text) : rest_(text) {}

  // So many digits; nothing when they are others or above `most`.
  std::optional<int> Number(std::size_t digits, int most) {
    if (rest_.size() < digits) return std::nullopt;
    int number = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (rest_[i] < '0' || rest_[i] > '9') return std::nullopt;
      number = number * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(digits);
    if (number > most) return std::nullopt;
    return number;
  }

  bool Take(std::string_view any_of) {
    if (rest_.empty() || any_of.find(rest_.front()) == std::string_view::npos) return false;
    last_ = rest_.front();
    rest_.remove_prefix(1);
    return true;
  }

  char last() const { return last_; }
  bool is_empty() const { return rest_.empty(); }

  // Digits of a fraction of a second, at least one.
  std::optional<std::chrono::milliseconds> Fraction() {
    const std::size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    if (digits == 0) return std::nullopt;
    int thousandths = 0;
    for (std::size_t i = 0; i < 3; ++i) thousandths = thousandths * 10 + (i < digits ? rest_[i] - '0' : 0);
    rest_.remove_prefix(digits);
    return std::chrono::milliseconds(thousandths);
  }

 private:
  std::string_view rest_;
  char last_ = 0;
};

std::optional<std::chrono::minutes> OffsetOf(Front& front) {
  if (front.Take("Zz")) return std::chrono::minutes(0);
  if (!front.Take("+-")) return std::nullopt;
  const int sign = front.last() == '-' ? -1 : 1;
  const auto hours = front.Number(2, 23);
  if (!hours || !front.Take(":")) return std::nullopt;
  const auto minutes = front.Number(2, 59);
  if (!minutes) return std::nullopt;
  return std::chrono::minutes(sign * (*hours * 60 + *minutes));
}

std::optional<std::chrono::year_month_day> DayOf(Front& front) {
  const auto year = front.Number(4, 9999);
  if (!year || !front.Take("-")) return std::nullopt;
  const auto month = front.Number(2, 12);
  if (!month || !front.Take("-")) return std::nullopt;
  const auto day = front.Number(2, 31);
  if (!day) return std::nullopt;
  return std::chrono::year(*year) / *month / *day;
}

std::optional<std::chrono::milliseconds> TimeOfDay(Front& front) {
  const auto hours = front.Number(2, 23);
  if (!hours || !front.Take(":")) return std::nullopt;
  const auto minutes = front.Number(2, 59);
  if (!minutes || !front.Take(":")) return std::nullopt;
  const auto seconds = front.Number(2, 59);
  if (!seconds) return std::nullopt;
  std::chrono::milliseconds time =
      std::chrono::hours(*hours) + std::chrono::minutes(*minutes) + std::chrono::seconds(*seconds);
  if (front.Take(".")) {
    const auto fraction = front.Fraction();
    if (!fraction) return std::nullopt;
    time += *fraction;
  }
  return time;
}

}  // namespace

std::optional<Time> MomentOf(std::chrono::year_month_day day, std::chrono::milliseconds of_day,
                             std::chrono::minutes offset) {
  if (!day.ok()) return std::nullopt;
  return std::chrono::sys_days(day) + of_day - offset;
}

std::optional<Time> ParseMoment(std::string_view text) {
  Front front(text);
  const auto day = DayOf(front);
  if (!day || !front.Take("Tt ")) return std::nullopt;
  const auto time = TimeOfDay(front);
  if (!time) return std::nullopt;
  const auto offset = OffsetOf(front);
  if (!offset || !front.is_empty()) return std::nullopt;
  return MomentOf(*day, *time, *offset);
}

}  // namespace caisson::document
