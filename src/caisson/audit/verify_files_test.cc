#include "caisson/audit/verify_files.h"

#include <utility>

#include "caisson/audit/audit_fixture.h"

namespace caisson::audit {
namespace {

using record::Fault;
using record::FaultName;

class VerifyFilesTest : public AuditFixture {
 protected:
  VerifyFilesTest() : key_(*NodeKey::LoadOrMake(data_, "node.key")) {}

  // Ten records, closed; gives the signed head.
  SignedHead Ten(const AuditOptions& options = {}) {
    const auto file = Open(options);
    Append(*file, 1, 10);
    return key_.Sign(id_, file->head(), record::Time());
  }
  Verified Verify(const std::optional<SignedHead>& head = {}) const {
    const auto verified = VerifyFiles(data_, id_, head, key_.public_key());
    if (verified) return *verified;
    ADD_FAILURE() << Words(verified.error());
    return {};
  }
  void ExpectWrong(const Verified& verified, std::uint64_t line, Fault fault, const std::string& file = "") {
    ASSERT_TRUE(verified.wrong) << "all seems well";
    EXPECT_EQ(FaultName(verified.wrong->fault), FaultName(fault)) << verified.wrong->why;
    EXPECT_EQ(verified.wrong->line, line) << verified.wrong->why;
    EXPECT_EQ(verified.wrong->file, id_.text() + (file.empty() ? "" : "." + file) + ".jsonl");
  }

  NodeKey key_;
};

TEST_F(VerifyFilesTest, WhatNobodyTouchedIsFine) {
  const Verified verified = Verify(Ten());
  EXPECT_FALSE(verified.wrong);
  EXPECT_EQ(verified.files, 1U);
  EXPECT_EQ(verified.records, 10U);
  EXPECT_EQ(verified.first_seq, 1U);
  EXPECT_EQ(verified.last_seq, 10U);
}

TEST_F(VerifyFilesTest, AChangedByteARemovedASwappedAndAnAddedLineAreNamed) {
  const SignedHead head = Ten();
  const auto lines = Lines();
  auto changed = lines;
  changed[3].replace(changed[3].find("tool4"), 5, "tool5");
  WriteLines(changed);
  ExpectWrong(Verify(head), 4, Fault::kChanged);
  changed = lines;
  changed.erase(changed.begin() + 3);
  WriteLines(changed);
  ExpectWrong(Verify(head), 4, Fault::kRemoved);
  changed = lines;
  std::swap(changed[3], changed[4]);
  WriteLines(changed);
  ExpectWrong(Verify(head), 4, Fault::kOutOfOrder);
  changed = lines;
  changed.insert(changed.begin() + 6, lines[2]);
  WriteLines(changed);
  ExpectWrong(Verify(head), 7, Fault::kAdded);
  WriteLines(lines);
  EXPECT_FALSE(Verify(head).wrong);
}

TEST_F(VerifyFilesTest, ACutTailAndAChainMadeAgainShowAgainstTheHead) {
  const SignedHead head = Ten();
  auto lines = Lines();
  lines.resize(8);
  WriteLines(lines);
  EXPECT_FALSE(Verify().wrong) << "without a head";
  ExpectWrong(Verify(head), 8, Fault::kCutTail);
  std::filesystem::remove(Path());
  Append(*Open(), 11, 20);
  EXPECT_FALSE(Verify().wrong) << "without a head";
  ExpectWrong(Verify(head), 10, Fault::kRecomputed);
  std::filesystem::remove(Path());
  const Verified none = Verify(head);
  ASSERT_TRUE(none.wrong);
  EXPECT_EQ(none.wrong->fault, Fault::kCutTail);
}

TEST_F(VerifyFilesTest, AHeadThatTheNodeDidNotSignIsNone) {
  SignedHead head = Ten();
  EXPECT_FALSE(Verify(head).wrong);
  head.head.seq -= 1;
  const Verified verified = Verify(head);
  ASSERT_TRUE(verified.wrong);
  EXPECT_EQ(verified.wrong->fault, Fault::kBadSignature);
  EXPECT_FALSE(VerifyFiles(data_, SandboxId::Random(), head, {}));
}

TEST_F(VerifyFilesTest, TheFileOfAWrongLineIsNamed) {
  const AuditOptions options{.rotate_at = Bytes{2000}};
  const SignedHead head = Ten(options);
  ASSERT_GE(Lines("2").size(), 2U);
  EXPECT_FALSE(Verify(head).wrong);
  const std::string whole = Read("2");
  auto lines = Lines("2");
  lines[1][10] = 'x';
  WriteLines(lines, "2");
  ExpectWrong(Verify(head), 2, Fault::kChanged, "2");
  Write(whole, "2");
  EXPECT_FALSE(Verify(head).wrong);
  std::filesystem::rename(Path("2"), Path("away"));
  ExpectWrong(Verify(head), 1, Fault::kRemoved, "3");
}

TEST_F(VerifyFilesTest, TornAndOversizedLinesAreNamed) {
  Ten();
  const std::string whole = Read();
  Write(whole + "{\"ts\":");
  ExpectWrong(Verify(), 11, Fault::kTorn);
  Write(whole + std::string(1U << 20U, 'x') + "\n");
  ExpectWrong(Verify(), 11, Fault::kTooLong);
  Write(std::string(1U << 20U, 'x'));
  ExpectWrong(Verify(), 1, Fault::kTooLong);
}

}  // namespace
}  // namespace caisson::audit
