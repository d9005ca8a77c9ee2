#include "caisson/client/event_stream.h"

#include <gtest/gtest.h>

#include <vector>

namespace caisson::client {
namespace {

// "id|name|data" of each event, with the stream in pieces of `piece` bytes.
std::vector<std::string> Parse(std::string_view text, std::size_t piece) {
  EventStreamParser parser;
  std::vector<std::string> events;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    const Status fed = parser.Feed(text.substr(at, piece), [&](StreamEvent&& event) {
      events.push_back(event.id + "|" + event.name + "|" + event.data);
      return true;
    });
    EXPECT_TRUE(fed);
  }
  return events;
}

using Events = std::vector<std::string>;

TEST(EventStreamParser, ReadsEventsInWhateverPiecesTheyCome) {
  constexpr std::string_view kText =
      ": hello\n\nid: 1,0\nevent: stdout\ndata: {\"a\":1}\n\ndata:x\ndata: y\ndata\nretry: 7\nodd: z\n\nid\ndata: "
      "last\n\n";
  for (std::size_t piece = 1; piece <= kText.size(); ++piece) {
    EXPECT_EQ(Parse(kText, piece), (Events{"1,0|stdout|{\"a\":1}", "1,0|message|x\ny\n", "|message|last"})) << piece;
  }
}

TEST(EventStreamParser, TakesEveryKindOfLineEnd) {
  for (const char* end : {"\n", "\r", "\r\n"}) {
    std::string text = "\xEF\xBB\xBFid: 7";
    text = text + end + "data: a" + end + end + "data: b" + end + end;
    for (const std::size_t piece : {1U, 2U, 3U, 100U}) {
      EXPECT_EQ(Parse(text, piece), (Events{"7|message|a", "7|message|b"})) << piece;
    }
  }
}

TEST(EventStreamParser, GivesNothingThatWasCut) {
  EXPECT_EQ(Parse("data: a\n", 100), Events{});
  EXPECT_EQ(Parse("data: a\n\ndata: b\n", 100), Events{"|message|a"});
  EXPECT_EQ(Parse("event: x\nid: 3\n\n", 100), Events{}) << "an event without data is none";
  EXPECT_EQ(Parse("event: x\n\ndata: a\n\n", 100), Events{"|message|a"}) << "and its name is forgotten";
  EXPECT_EQ(Parse(std::string("id: a\0b\ndata: x\n\n", 17), 100), Events{"|message|x"});
}

TEST(EventStreamParser, StopsWhenTheSinkHasEnough) {
  EventStreamParser parser;
  int given = 0;
  ASSERT_TRUE(parser.Feed("data: a\n\ndata: b\n\n", [&](StreamEvent&&) { return ++given > 1; }));
  EXPECT_EQ(given, 1);
}

TEST(EventStreamParser, RefusesAnEventWithoutEnd) {
  EventStreamParser parser;
  const std::string piece = "data: " + std::string(1U << 20U, 'x') + "\n";
  Status fed;
  for (int i = 0; i < 40 && fed; ++i) fed = parser.Feed(piece, [](StreamEvent&&) { return true; });
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().code(), Code::kResourceExhausted);
}

}  // namespace
}  // namespace caisson::client
