#include "caisson/policy/zone.h"

#include <gtest/gtest.h>

namespace caisson::policy {
namespace {

using namespace std::chrono;

Time At(int y, unsigned m, unsigned d, int hour, int minute) {
  return sys_days{year{y} / month{m} / day{d}} + hours{hour} + minutes{minute};
}

std::shared_ptr<const Zone> Find(std::string_view name) {
  auto zone = SystemZones().Find(name);
  EXPECT_TRUE(zone) << zone.error().message();
  return zone ? *zone : *SystemZones().Find("UTC");
}

// Minutes that clocks there are ahead.
long Offset(const Zone& zone, Time time) {
  return duration_cast<minutes>(zone.Local(time).time_since_epoch() - time.time_since_epoch()).count();
}

TEST(Zone, ShowsWhatClocksShowBeforeAndAfterTheyChange) {
  const auto berlin = Find("Europe/Berlin");
  EXPECT_EQ(berlin->name(), "Europe/Berlin");
  EXPECT_EQ(Offset(*berlin, At(2026, 3, 29, 0, 59)), 60);
  EXPECT_EQ(Offset(*berlin, At(2026, 3, 29, 1, 0)), 120);
  EXPECT_EQ(Offset(*berlin, At(2026, 10, 25, 0, 59)), 120);
  EXPECT_EQ(Offset(*berlin, At(2026, 10, 25, 1, 0)), 60);
}

TEST(Zone, KnowsHalfHoursAndTheSouth) {
  EXPECT_EQ(Offset(*Find("Asia/Kolkata"), At(2026, 7, 1, 0, 0)), 330);
  EXPECT_EQ(Offset(*Find("Australia/Lord_Howe"), At(2026, 1, 1, 0, 0)), 660);
  EXPECT_EQ(Offset(*Find("Australia/Lord_Howe"), At(2026, 7, 1, 0, 0)), 630);
  EXPECT_EQ(Offset(*Find("America/St_Johns"), At(2026, 1, 1, 0, 0)), -210);
  EXPECT_EQ(Offset(*Find("Etc/GMT+5"), At(2026, 1, 1, 0, 0)), -300);
}

TEST(Zone, TellsTheNextChangeOfItsClocks) {
  const auto berlin = Find("Europe/Berlin");
  EXPECT_EQ(berlin->NextTransition(At(2026, 1, 1, 0, 0)), At(2026, 3, 29, 1, 0));
  EXPECT_EQ(berlin->NextTransition(At(2026, 3, 29, 1, 0)), At(2026, 10, 25, 1, 0));
  EXPECT_EQ(berlin->NextTransition(At(2026, 3, 29, 1, 0) - milliseconds{1}), At(2026, 3, 29, 1, 0));
  EXPECT_EQ(Find("UTC")->NextTransition(At(2026, 1, 1, 0, 0)), std::nullopt);
  EXPECT_EQ(Find("Asia/Kolkata")->NextTransition(At(2026, 1, 1, 0, 0)), std::nullopt);
}

TEST(Zone, RefusesWhatIsNoName) {
  for (const std::string_view name :
       {"", "Europe/Berlinn", "Europe", "../etc/passwd", "Europe/../UTC", "/usr/share/zoneinfo/UTC", "Europe//Berlin",
        "Europe/Berlin/", "localtime", "file:/etc/passwd", "UTC\n", "tzdata.zi", "zone.tab"}) {
    const auto zone = SystemZones().Find(name);
    ASSERT_FALSE(zone) << name;
    EXPECT_EQ(zone.error().code(), Code::kInvalidArgument) << name;
  }
}

TEST(Zone, NamesThePackageWhenThereIsNoZoneData) {
  const auto zones = ZonesListedIn("/nonexistent/zoneinfo");
  const auto zone = zones->Find("Europe/Berlin");
  ASSERT_FALSE(zone);
  EXPECT_EQ(zone.error().code(), Code::kUnsupported);
  EXPECT_NE(zone.error().remediation().find("tzdata"), std::string::npos);
  EXPECT_TRUE(zones->Find("UTC"));
}

}  // namespace
}  // namespace caisson::policy
