#include "caisson/rest/event_text.h"

#include <gtest/gtest.h>

namespace caisson::rest {
namespace {

using service::Stream;

service::OutputFollower::Chunk Chunk(Stream stream, std::uint64_t offset, std::string bytes,
                                     std::uint64_t dropped = 0) {
  return {.stream = stream, .offset = offset, .bytes = std::move(bytes), .dropped = dropped};
}

TEST(OutputEvents, SaysWhereToGoOn) {
  OutputEvents events(0, 7);
  EXPECT_EQ(events.Write(Chunk(Stream::kStdout, 0, "a\nb\r\n")),
            "event: stdout\nid: 5,7\ndata: {\"offset\":0,\"text\":\"a\\nb\\r\\n\"}\n\n");
  EXPECT_EQ(events.Write(Chunk(Stream::kStderr, 7, "x")),
            "event: stderr\nid: 5,8\ndata: {\"offset\":7,\"text\":\"x\"}\n\n");
  EXPECT_EQ(events.Flush(), "");
}

TEST(OutputEvents, NeverSplitsACharacter) {
  OutputEvents events(0, 0);
  EXPECT_EQ(events.Write(Chunk(Stream::kStdout, 0, "a\xE2\x82")),
            "event: stdout\nid: 1,0\ndata: {\"offset\":0,\"text\":\"a\"}\n\n");
  EXPECT_EQ(events.Write(Chunk(Stream::kStdout, 3, "\xAC")),
            "event: stdout\nid: 4,0\ndata: {\"offset\":1,\"text\":\"\xE2\x82\xAC\"}\n\n");
  EXPECT_EQ(events.Write(Chunk(Stream::kStdout, 4, "\xE2")), "");
  EXPECT_EQ(events.Id(), "4,0") << "who resumes gets the cut character again";
  EXPECT_EQ(events.Flush(), "event: stdout\nid: 5,0\ndata: {\"offset\":4,\"base64\":\"4g==\"}\n\n");
}

TEST(OutputEvents, WritesBytesThatAreNoText) {
  OutputEvents events(0, 0);
  EXPECT_EQ(events.Write(Chunk(Stream::kStdout, 0, "\xFF\xFE")),
            "event: stdout\nid: 2,0\ndata: {\"offset\":0,\"base64\":\"//4=\"}\n\n");
}

TEST(OutputEvents, TellsAGap) {
  OutputEvents events(0, 0);
  EXPECT_EQ(events.Write(Chunk(Stream::kStdout, 0, "\xC3")), "");
  EXPECT_EQ(events.Write(Chunk(Stream::kStdout, 1, "", 99)),
            "event: stdout\nid: 1,0\ndata: {\"offset\":0,\"base64\":\"ww==\"}\n\n"
            "event: gap\nid: 100,0\ndata: {\"stream\":\"stdout\",\"offset\":1,\"dropped_bytes\":99}\n\n");
}

TEST(ParseOutputId, ReadsItBack) {
  EXPECT_EQ(ParseOutputId("5,8"), (std::pair<std::uint64_t, std::uint64_t>{5, 8}));
  for (const char* id :
       {"", "5", "5,", ",8", "5,8,9", "-1,0", "a,b", "5, 8", "99999999999999999999,0", "0000000000000000001,0"}) {
    EXPECT_FALSE(ParseOutputId(id)) << id;
  }
}

}  // namespace
}  // namespace caisson::rest
