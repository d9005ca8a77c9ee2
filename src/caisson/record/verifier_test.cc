#include "caisson/record/verifier.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "caisson/record/body.h"

namespace caisson::record {
namespace {

using Beginning = Verifier::Beginning;

SandboxId Id() { return *SandboxId::Parse("sb_abcdefghijklmnopqrstuvwxyz"); }

// Lines of a chain, and the head of each.
struct Chain {
  std::vector<std::string> lines;
  std::vector<Head> heads = {FirstHead(Id())};

  void Add(const std::string& tool, const std::optional<std::string>& detail = {}, Kind kind = Kind::kStep) {
    Entry entry;
    entry.kind = kind;
    entry.tool = tool;
    entry.detail = detail;
    ChainedLine line = MakeLine(Id(), heads.back(), Time(), BodyOf(entry, Redactor()));
    line.text.pop_back();
    lines.push_back(std::move(line.text));
    heads.push_back(line.head);
  }
};

Chain Ten(const std::string& tool = "run_command") {
  Chain chain;
  for (int i = 1; i <= 10; ++i) chain.Add(tool + std::to_string(i));
  return chain;
}

std::optional<Finding> Verify(const std::vector<std::string>& lines, std::optional<Head> head = {},
                              Beginning beginning = Beginning::kFirstRecord) {
  Verifier verifier(Id(), head, beginning);
  for (const std::string& line : lines) verifier.Feed(line);
  return verifier.End();
}

void ExpectFinding(const std::optional<Finding>& finding, std::uint64_t line, Fault fault) {
  ASSERT_TRUE(finding) << "all seems well";
  EXPECT_EQ(FaultName(finding->fault), FaultName(fault)) << finding->why;
  EXPECT_EQ(finding->line, line) << finding->why;
  EXPECT_FALSE(finding->why.empty());
}

TEST(VerifierTest, AWholeChainIsFine) {
  const Chain chain = Ten();
  EXPECT_FALSE(Verify(chain.lines));
  EXPECT_FALSE(Verify({}));
  EXPECT_FALSE(Verify({}, FirstHead(Id())));
  for (const Head& head : chain.heads) EXPECT_FALSE(Verify(chain.lines, head)) << head.seq;
}

TEST(VerifierTest, EveryChangedByteIsNamed) {
  const Chain chain = Ten();
  for (std::size_t i = 0; i < chain.lines[4].size(); ++i) {
    auto lines = chain.lines;
    lines[4][i] = static_cast<char>(lines[4][i] ^ 1);
    const auto finding = Verify(lines);
    ASSERT_TRUE(finding) << i;
    EXPECT_EQ(finding->line, 5U) << i << finding->why;
  }
}

TEST(VerifierTest, AChangedValueIsNamed) {
  auto lines = Ten().lines;
  lines[6].replace(lines[6].find("run_command7"), 12, "run_command8");
  ExpectFinding(Verify(lines), 7, Fault::kChanged);
}

TEST(VerifierTest, ALineWhoseHashWasMadeAgainIsNamed) {
  const Chain chain = Ten();
  Chain forged = chain;
  forged.heads.resize(5);
  forged.lines.resize(4);
  forged.Add("harmless");
  auto lines = chain.lines;
  lines[4] = forged.lines[4];
  ExpectFinding(Verify(lines), 6, Fault::kChanged);  // the first that does not follow
}

TEST(VerifierTest, ARemovedLineIsNamed) {
  for (std::size_t i = 0; i < 9; ++i) {
    auto lines = Ten().lines;
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i));
    const auto finding = Verify(lines);
    ExpectFinding(finding, i + 1, Fault::kRemoved);
    EXPECT_EQ(finding->why, "record " + std::to_string(i + 1) + " is missing");
  }
}

TEST(VerifierTest, SwappedAndMovedLinesAreNamed) {
  auto lines = Ten().lines;
  std::swap(lines[4], lines[5]);
  ExpectFinding(Verify(lines), 5, Fault::kOutOfOrder);
  lines = Ten().lines;
  std::swap(lines[2], lines[8]);
  ExpectFinding(Verify(lines), 3, Fault::kOutOfOrder);
  lines = Ten().lines;
  lines.insert(lines.begin() + 2, lines[7]);
  lines.erase(lines.begin() + 8);
  ExpectFinding(Verify(lines), 3, Fault::kOutOfOrder);
}

TEST(VerifierTest, AddedLinesAreNamed) {
  const Chain chain = Ten();
  for (const std::size_t copied : {0U, 4U, 5U}) {
    auto lines = chain.lines;
    lines.insert(lines.begin() + 6, chain.lines[copied]);
    ExpectFinding(Verify(lines), 7, Fault::kAdded);
  }
  Chain forged = chain;
  forged.heads.resize(7);
  forged.lines.resize(6);
  forged.Add("never happened");
  auto lines = chain.lines;
  lines.insert(lines.begin() + 6, forged.lines[6]);
  ExpectFinding(Verify(lines), 7, Fault::kAdded);
}

TEST(VerifierTest, WhatIsNoRecordOfThisSandboxIsNamed) {
  auto lines = Ten().lines;
  lines[3] = "{\"a\":";
  ExpectFinding(Verify(lines), 4, Fault::kNotJson);
  lines[3] = "{}";
  ExpectFinding(Verify(lines), 4, Fault::kNotARecord);
  lines[3] = "";
  ExpectFinding(Verify(lines), 4, Fault::kNotJson);
  const SandboxId other = SandboxId::Random();
  lines[3] = MakeLine(other, FirstHead(other), Time(), ",\"kind\":\"step\"").text;
  lines[3].pop_back();
  ExpectFinding(Verify(lines), 4, Fault::kOtherSandbox);
}

TEST(VerifierTest, ACutTailShowsAgainstTheHead) {
  const Chain chain = Ten();
  auto lines = chain.lines;
  lines.resize(7);
  EXPECT_FALSE(Verify(lines)) << "without a head it is a whole chain";
  const auto finding = Verify(lines, chain.heads[10]);
  ExpectFinding(finding, 7, Fault::kCutTail);
  EXPECT_EQ(finding->why, "records 8 to 10 are missing");
  ExpectFinding(Verify({}, chain.heads[10]), 0, Fault::kCutTail);
}

TEST(VerifierTest, AChainMadeAgainShowsAgainstTheHead) {
  const Chain chain = Ten();
  const Chain forged = Ten("harmless");
  EXPECT_FALSE(Verify(forged.lines)) << "without a head it is a whole chain";
  ExpectFinding(Verify(forged.lines, chain.heads[10]), 10, Fault::kRecomputed);
  ExpectFinding(Verify(forged.lines, chain.heads[4]), 4, Fault::kRecomputed);
}

TEST(VerifierTest, ABeginningMayBeMissingOnlyWhenARecordSaysSo) {
  Chain chain = Ten();
  std::vector<std::string> rest(chain.lines.begin() + 4, chain.lines.end());
  ExpectFinding(Verify(rest), 1, Fault::kRemoved);
  ExpectFinding(Verify(rest, {}, Beginning::kAnyRecord), 1, Fault::kRemoved);
  chain.Add("", DroppedDetail(chain.heads[4]), Kind::kGap);
  rest.push_back(chain.lines.back());
  EXPECT_FALSE(Verify(rest, {}, Beginning::kAnyRecord));
  EXPECT_FALSE(Verify(rest, chain.heads[11], Beginning::kAnyRecord));
  EXPECT_FALSE(Verify(chain.lines, {}, Beginning::kAnyRecord));
  rest.erase(rest.begin());
  ExpectFinding(Verify(rest, {}, Beginning::kAnyRecord), 1, Fault::kRemoved);
}

}  // namespace
}  // namespace caisson::record
