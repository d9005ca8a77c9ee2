#include "caisson/document/moment.h"

#include <gtest/gtest.h>

namespace caisson::document {
namespace {

std::int64_t Millis(std::string_view text) {
  const auto moment = ParseMoment(text);
  return moment ? moment->time_since_epoch().count() : -1;
}

TEST(Moment, ReadsRfc3339) {
  EXPECT_EQ(Millis("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(Millis("2027-01-01t02:00:00+02:00"), 1798761600000);
  EXPECT_EQ(Millis("2026-12-31 22:30:00.1239-01:30"), 1798761600123);
  EXPECT_EQ(Millis("2024-02-29T23:59:59.9z"), 1709251199900);
  EXPECT_EQ(Millis("1970-01-01T00:00:00.05Z"), 50);
}

TEST(Moment, RefusesWhatIsNone) {
  for (const std::string_view text : {"",
                                      "2027-01-01",
                                      "2027-01-01T00:00:00",
                                      "2027-01-01T00:00Z",
                                      "2027-02-29T00:00:00Z",
                                      "2027-00-01T00:00:00Z",
                                      "2027-13-01T00:00:00Z",
                                      "2027-01-00T00:00:00Z",
                                      "2027-01-01T24:00:00Z",
                                      "2027-01-01T00:60:00Z",
                                      "2027-01-01T00:00:60Z",
                                      "2027-01-01T00:00:00.Z",
                                      "2027-01-01T00:00:00+24:00",
                                      "2027-01-01T00:00:00+0200",
                                      "2027-01-01T00:00:00Z ",
                                      " 2027-01-01T00:00:00Z",
                                      "27-01-01T00:00:00Z",
                                      "2027-1-01T00:00:00Z",
                                      "+027-01-01T00:00:00Z",
                                      "2027-01-01T00:00:00,5Z"}) {
    EXPECT_EQ(ParseMoment(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace caisson::document
