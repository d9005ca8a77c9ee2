#include "caisson/policy/window.h"

#include <gtest/gtest.h>

#include "caisson/policy/zone.h"

namespace caisson::policy {
namespace {

using namespace std::chrono;

Time At(int y, unsigned m, unsigned d, int hour, int minute) {
  return sys_days{year{y} / month{m} / day{d}} + hours{hour} + minutes{minute};
}

Window Of(std::string_view days, std::string_view hours_text, std::string_view zone) {
  Window window;
  window.zone = SystemZones().Find(zone).value();
  if (!days.empty()) window.days = ParseDays(days).value();
  if (!hours_text.empty()) {
    window.from = ParseHours(hours_text).value().from;
    window.to = ParseHours(hours_text).value().to;
  }
  window.days_text = days;
  window.hours_text = hours_text;
  return window;
}

TEST(ParseDays, TakesDaysRangesAndLists) {
  EXPECT_EQ(ParseDays("mon"), 0x01);
  EXPECT_EQ(ParseDays("mon-fri"), 0x1f);
  EXPECT_EQ(ParseDays("sat,sun"), 0x60);
  EXPECT_EQ(ParseDays("mon-wed,fri"), 0x17);
  EXPECT_EQ(ParseDays("sat-mon"), 0x61);
  EXPECT_EQ(ParseDays("mon-sun"), 0x7f);
  for (const char* text : {"", "Mon", "monday", "mon-", "-fri", "mon,,fri", "mon, fri", "mon-fri-sun", ","}) {
    EXPECT_EQ(ParseDays(text), std::nullopt) << text;
  }
}

TEST(ParseHours, TakesOneSpan) {
  EXPECT_EQ(ParseHours("09:00-18:00")->from, minutes{540});
  EXPECT_EQ(ParseHours("09:00-18:00")->to, minutes{1080});
  EXPECT_EQ(ParseHours("22:30-06:00")->from, minutes{1350});
  EXPECT_EQ(ParseHours("00:00-24:00")->to, minutes{1440});
  for (const char* text : {"", "9:00-18:00", "09:00", "09:00-09:00", "24:00-06:00", "09:60-10:00", "25:00-26:00",
                           "09:00-24:01", "09:00 - 18:00", "09:00-12:00,13:00-18:00", "0900-18000"}) {
    EXPECT_FALSE(ParseHours(text)) << text;
  }
}

TEST(Window, HoldsOnItsDaysAndHoursByTheClockThere) {
  const Window office = Of("mon-fri", "09:00-18:00", "Europe/Berlin");
  EXPECT_FALSE(Holds(office, At(2026, 7, 1, 6, 59)));  // a Wednesday, two hours ahead
  EXPECT_TRUE(Holds(office, At(2026, 7, 1, 7, 0)));
  EXPECT_TRUE(Holds(office, At(2026, 7, 1, 15, 59)));
  EXPECT_FALSE(Holds(office, At(2026, 7, 1, 16, 0)));
  EXPECT_FALSE(Holds(office, At(2026, 7, 4, 10, 0)));  // a Saturday
  EXPECT_FALSE(Holds(office, At(2026, 1, 7, 7, 30)));  // in winter one hour
  EXPECT_TRUE(Holds(office, At(2026, 1, 7, 8, 0)));
}

TEST(Window, OverMidnightBelongsToTheDayItBeganOn) {
  const Window night = Of("fri", "22:00-06:00", "UTC");
  EXPECT_FALSE(Holds(night, At(2026, 7, 3, 5, 0)));  // Friday morning is Thursday's night
  EXPECT_TRUE(Holds(night, At(2026, 7, 3, 22, 0)));
  EXPECT_TRUE(Holds(night, At(2026, 7, 4, 5, 59)));  // Saturday
  EXPECT_FALSE(Holds(night, At(2026, 7, 4, 6, 0)));
  EXPECT_FALSE(Holds(night, At(2026, 7, 4, 23, 0)));
}

TEST(Window, TakesWhatTheClockShowsWhenItIsChanged) {
  const Window early = Of("", "02:00-03:00", "Europe/Berlin");
  // In spring the clock goes from 01:59 to 03:00: the hour is never shown.
  for (int minute = 0; minute < 120; minute += 10) EXPECT_FALSE(Holds(early, At(2026, 3, 29, 0, 30) + minutes{minute}));
  // In autumn it is shown twice.
  EXPECT_TRUE(Holds(early, At(2026, 10, 25, 0, 30)));
  EXPECT_TRUE(Holds(early, At(2026, 10, 25, 1, 30)));
  EXPECT_FALSE(Holds(early, At(2026, 10, 25, 2, 0)));
}

TEST(NextEdge, IsTheBeginningOrTheEnd) {
  const Window office = Of("mon-fri", "09:00-18:00", "Europe/Berlin");
  EXPECT_EQ(NextEdge(office, At(2026, 7, 1, 3, 0)), At(2026, 7, 1, 7, 0));
  EXPECT_EQ(NextEdge(office, At(2026, 7, 1, 7, 0)), At(2026, 7, 1, 16, 0));
  EXPECT_EQ(NextEdge(office, At(2026, 7, 3, 16, 0)), At(2026, 7, 6, 7, 0));      // over the weekend
  EXPECT_EQ(NextEdge(office, At(2026, 3, 27, 18, 0)), At(2026, 3, 30, 7, 0));    // over the change in spring
  EXPECT_EQ(NextEdge(office, At(2026, 10, 23, 18, 0)), At(2026, 10, 26, 8, 0));  // and in autumn
  const Window half = Of("", "09:00-18:00", "Asia/Kolkata");
  EXPECT_EQ(NextEdge(half, At(2026, 7, 1, 0, 0)), At(2026, 7, 1, 3, 30));
  const Window saturday = Of("sat", "", "UTC");
  EXPECT_EQ(NextEdge(saturday, At(2026, 7, 1, 0, 0)), At(2026, 7, 4, 0, 0));
  EXPECT_EQ(NextEdge(saturday, At(2026, 7, 4, 0, 0)), At(2026, 7, 5, 0, 0));
}

TEST(NextEdge, MayBeAChangeOfTheClocks) {
  const Window early = Of("", "02:00-03:00", "Europe/Berlin");
  // The hour that is left out is passed over, the repeated one is left at its second end.
  EXPECT_EQ(NextEdge(early, At(2026, 3, 28, 12, 0)), At(2026, 3, 30, 0, 0));
  EXPECT_EQ(NextEdge(early, At(2026, 10, 25, 0, 30)), At(2026, 10, 25, 2, 0));
  const Window late = Of("", "00:00-02:30", "Europe/Berlin");
  EXPECT_EQ(NextEdge(late, At(2026, 3, 29, 0, 30)), At(2026, 3, 29, 1, 0));    // 03:00 is past 02:30
  EXPECT_EQ(NextEdge(late, At(2026, 10, 25, 0, 40)), At(2026, 10, 25, 1, 0));  // 02:40 was past it, 02:00 is not
}

TEST(NextEdge, IsNeverOfAWindowThatIsEveryDayAndHour) {
  EXPECT_EQ(NextEdge(Of("mon-sun", "00:00-24:00", "Europe/Berlin"), At(2026, 7, 1, 0, 0)), std::nullopt);
}

TEST(Window, IsDescribedAsWritten) {
  EXPECT_EQ(Describe(Of("mon-fri", "09:00-18:00", "Europe/Berlin")), "mon-fri 09:00-18:00 Europe/Berlin");
  EXPECT_EQ(Describe(Of("", "09:00-18:00", "UTC")), "09:00-18:00 UTC");
}

}  // namespace
}  // namespace caisson::policy
