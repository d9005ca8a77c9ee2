#include "caisson/rest/query.h"

#include <gtest/gtest.h>

namespace caisson::rest {
namespace {

TEST(QueryReader, ReadsByName) {
  QueryReader query("state=running&label=a%3Db&label=c+d&limit=7&follow=false&list&&empty=");
  EXPECT_EQ(query.Text("state"), "running");
  EXPECT_EQ(query.Each("label"), (std::vector<std::string>{"a=b", "c d"}));
  EXPECT_EQ(query.Count("limit", 1, 1000, 100), 7U);
  EXPECT_EQ(query.Count("offset", 0, 10, 3), 3U);
  EXPECT_FALSE(query.Switch("follow", true));
  EXPECT_TRUE(query.Switch("other", true));
  EXPECT_TRUE(query.Mentioned("list"));
  EXPECT_EQ(query.Text("empty"), "");
  EXPECT_EQ(query.Text("absent"), std::nullopt);
  EXPECT_TRUE(query.Finish());
}

TEST(QueryReader, NamesTheNearestKnownOne) {
  QueryReader query("stat=running");
  (void)query.Text("state");
  (void)query.Text("limit");
  const Status status = query.Finish();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(), "the parameter 'stat' is not known here");
  EXPECT_EQ(status.error().remediation(), "did you mean 'state'?");
}

TEST(QueryReader, RefusesWrongValues) {
  const auto count = [](std::string_view text) {
    QueryReader query(text);
    (void)query.Count("n", 1, 1000, 5);
    return query.Finish().has_value();
  };
  EXPECT_TRUE(count("n=1000"));
  for (const char* text : {"n=0", "n=-1", "n=1001", "n=0.5", "n=2147483648", "n=9223372036854775808", "n=\"5\"",
                           "n=NaN", "n=1e2", "n= 5", "n=+5", "n=", "n", "n=5&n=5", "n=%"}) {
    EXPECT_FALSE(count(text)) << text;
  }
  QueryReader empty("list=");
  EXPECT_TRUE(empty.Mentioned("list"));
  EXPECT_TRUE(empty.Finish());
  QueryReader twice("list=1&follow=yes&stream=both");
  (void)twice.Mentioned("list");
  EXPECT_EQ(twice.Finish().error().message(), "the parameter 'list' takes no value");
}

TEST(QueryReader, BoundsTheirNumber) {
  std::string text;
  for (int i = 0; i < 65; ++i) text += "a=1&";
  QueryReader query(text);
  (void)query.Each("a");
  EXPECT_FALSE(query.Finish());
}

}  // namespace
}  // namespace caisson::rest
