#include "caisson/record/chain.h"

#include <gtest/gtest.h>

#include "caisson/record/hash.h"
#include "caisson/record/line.h"

namespace caisson::record {
namespace {

SandboxId Id() { return *SandboxId::Parse("sb_abcdefghijklmnopqrstuvwxyz"); }

// What anyone with sha256sum computes.
TEST(ChainTest, TheHashIsThatOfTheHashBeforeAndTheLineWithoutItsOwn) {
  const Head first = FirstHead(Id());
  EXPECT_EQ(first.seq, 0U);
  EXPECT_EQ(HexOf(first.hash), HexOf(Sha256Of("caisson audit 1\nsb_abcdefghijklmnopqrstuvwxyz")));
  const ChainedLine line = MakeLine(Id(), first, Time(), ",\"kind\":\"step\"");
  const std::string without =
      "{\"ts\":\"1970-01-01T00:00:00.000Z\",\"seq\":1,\"sandbox\":\"sb_abcdefghijklmnopqrstuvwxyz\","
      "\"kind\":\"step\",\"prev\":\"" +
      HexOf(first.hash) + "\"}";
  const std::string hash = HexOf(Sha256Of(HexOf(first.hash) + without));
  EXPECT_EQ(line.text, without.substr(0, without.size() - 1) + ",\"hash\":\"" + hash + "\"}\n");
  EXPECT_EQ(line.head.seq, 1U);
  EXPECT_EQ(HexOf(line.head.hash), hash);
}

TEST(ChainTest, SandboxesBeginDifferently) { EXPECT_NE(FirstHead(SandboxId::Random()), FirstHead(Id())); }

TEST(ChainTest, HexReadsOnlyWhatItWrote) {
  const Sha256 hash = Sha256Of("x");
  const std::string text = HexOf(hash);
  EXPECT_EQ(ReadHex(text), hash);
  EXPECT_FALSE(ReadHex(text.substr(1)));
  EXPECT_FALSE(ReadHex("G" + text.substr(1)));
  EXPECT_FALSE(ReadHex("A" + text.substr(1)));
}

TEST(ChainTest, ReadsItsOwnLines) {
  const ChainedLine made = MakeLine(Id(), {.seq = 6, .hash = Sha256Of("6")}, Time(),
                                    ",\"kind\":\"gap\",\"tool\":null,\"outcome\":\"exited\",\"detail\":" +
                                        DroppedDetail({.seq = 3, .hash = Sha256Of("3")}));
  const std::string_view text = std::string_view(made.text).substr(0, made.text.size() - 1);
  const auto read = ReadLine(text);
  ASSERT_TRUE(std::holds_alternative<Line>(read));
  const Line& line = std::get<Line>(read);
  EXPECT_EQ(line.head, made.head);
  EXPECT_EQ(line.prev, Sha256Of("6"));
  EXPECT_EQ(line.sandbox, Id().text());
  EXPECT_EQ(line.kind, "gap");
  EXPECT_EQ(line.tool, "");
  EXPECT_EQ(line.outcome, "exited");
  EXPECT_EQ(line.dropped, (Head{.seq = 3, .hash = Sha256Of("3")}));
  EXPECT_TRUE(IsUnchanged(line, text));
  EXPECT_FALSE(IsUnchanged(line, std::string(text) + " "));
}

TEST(ChainTest, RefusesWhatIsNoRecord) {
  const auto fault = [](const std::string& text) {
    const auto read = ReadLine(text);
    return std::holds_alternative<Fault>(read) ? std::get<Fault>(read) : Fault::kChanged;
  };
  EXPECT_EQ(fault(""), Fault::kNotJson);
  EXPECT_EQ(fault("{\"seq\":1"), Fault::kNotJson);
  EXPECT_EQ(fault("\"\xff\""), Fault::kNotJson);
  EXPECT_EQ(fault("[]"), Fault::kNotARecord);
  EXPECT_EQ(fault("{}"), Fault::kNotARecord);
  EXPECT_EQ(fault(std::string(200000, ' ')), Fault::kTooLong);
}

}  // namespace
}  // namespace caisson::record
