#include "caisson/state/data_folder.h"

namespace caisson::state {
namespace {

class DatabaseEvents : public testing::Test {
 protected:
  void Open(std::uint64_t keep) {
    database_.reset();
    database_ = folder_.Open({.keep_events = keep});
    ASSERT_NE(database_, nullptr);
  }
  DataFolder folder_;
  std::unique_ptr<Database> database_;
};

TEST_F(DatabaseEvents, ComeBackInOrder) {
  Open(100);
  EXPECT_EQ(*database_->NewestEvent(), 0U);
  const EventRecord event{
      .number = 99, .time = 1, .type = "t", .sandbox = "s", .command = "c", .caller = "me", .detail = "d"};
  EXPECT_EQ(*database_->AppendEvent(event), 1U);
  EXPECT_EQ(*database_->AppendEvent(SomeEvent("second")), 2U);
  const auto all = database_->EventsAfter(0, 10);
  ASSERT_TRUE(all && all->size() == 2);
  EXPECT_EQ((*all)[0].number, 1U);
  EXPECT_EQ((*all)[0].time, 1);
  EXPECT_EQ((*all)[0].type, "t");
  EXPECT_EQ((*all)[0].sandbox, "s");
  EXPECT_EQ((*all)[0].command, "c");
  EXPECT_EQ((*all)[0].caller, "me");
  EXPECT_EQ((*all)[0].detail, "d");
  EXPECT_EQ((*all)[1].type, "second");
  EXPECT_EQ(database_->EventsAfter(0, 1)->size(), 1U);
  EXPECT_TRUE(database_->EventsAfter(2, 10)->empty());
  ExpectCode(database_->EventsAfter(0, 0), Code::kInvalidArgument);
  ExpectCode(database_->EventsAfter(0, kMaxPage + 1), Code::kInvalidArgument);
}

TEST_F(DatabaseEvents, OnlyTheNewestAreKept) {
  Open(10);
  for (std::uint64_t i = 1; i <= 2 * EventTable::kSlack; ++i) {
    ASSERT_EQ(*database_->AppendEvent(SomeEvent()), i);
    ASSERT_LE(database_->EventsAfter(0, kMaxPage)->size(), 10 + EventTable::kSlack);
  }
  const auto kept = database_->EventsAfter(0, kMaxPage);
  ASSERT_EQ(kept->size(), 10U);
  EXPECT_EQ(kept->back().number, 2 * EventTable::kSlack);
}

TEST_F(DatabaseEvents, NumbersAreNeverUsedAgain) {
  Open(1);
  for (std::uint64_t i = 1; i <= 300; ++i) ASSERT_EQ(*database_->AppendEvent(SomeEvent()), i);
  Open(1);
  EXPECT_EQ(*database_->NewestEvent(), 300U);
  EXPECT_EQ(*database_->AppendEvent(SomeEvent()), 301U);
}

class DatabaseKeys : public DatabaseEvents {
 protected:
  DatabaseKeys() { Open(100); }
  static IdempotencyRecord Key(std::string caller, std::string key, const SandboxId& sandbox) {
    return {.caller = std::move(caller),
            .key = std::move(key),
            .request_sha256 = std::string("\0", 1) + std::string(31, 'h'),
            .sandbox = sandbox,
            .created_at = 10};
  }
};

TEST_F(DatabaseKeys, OneCallersKeyMakesOneSandbox) {
  const SandboxRecord first = SomeSandbox();
  ASSERT_TRUE(database_->InsertSandbox(first, Key("uid 0", "k", first.id), SomeEvent()));
  const auto found = database_->FindIdempotencyKey("uid 0", "k");
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->caller, "uid 0");
  EXPECT_EQ((*found)->key, "k");
  EXPECT_EQ((*found)->sandbox, first.id);
  EXPECT_EQ((*found)->request_sha256, std::string("\0", 1) + std::string(31, 'h'));
  EXPECT_EQ((*found)->created_at, 10);

  const SandboxRecord second = SomeSandbox();
  const auto refused = database_->InsertSandbox(second, Key("uid 0", "k", second.id), SomeEvent());
  ExpectCode(refused, Code::kConflict);
  EXPECT_EQ(refused.error().details().at(0).second, first.id.text());
  ExpectCode(database_->GetSandbox(second.id), Code::kNotFound);
  EXPECT_TRUE(database_->InsertSandbox(second, Key("uid 1", "k", second.id), SomeEvent()));
  EXPECT_FALSE(*database_->FindIdempotencyKey("uid 0", "K"));
}

TEST_F(DatabaseKeys, AKeyOfARefusedSandboxIsFree) {
  const SandboxId id = AddSandbox(*database_);
  SandboxRecord record{.id = id};
  ExpectCode(database_->InsertSandbox(record, Key("uid 0", "k", id), SomeEvent()), Code::kAlreadyExists);
  EXPECT_FALSE(*database_->FindIdempotencyKey("uid 0", "k"));
}

TEST_F(DatabaseKeys, HoldAWholeHash) {
  const SandboxRecord record = SomeSandbox();
  IdempotencyRecord key = Key("uid 0", "k", record.id);
  key.request_sha256.pop_back();
  ExpectCode(database_->InsertSandbox(record, key, SomeEvent()), Code::kInvalidArgument);
}

TEST_F(DatabaseKeys, AKeyOfASandboxThatWasNeverMadeIsFree) {
  SandboxRecord record = SomeSandbox();
  record.state = "pending";
  ASSERT_TRUE(database_->InsertSandbox(record, Key("uid 0", "k", record.id), SomeEvent()));
  const SandboxRecord other = SomeSandbox();
  ASSERT_TRUE(database_->InsertSandbox(other, Key("uid 0", "other", other.id), SomeEvent()));
  ExpectCode(database_->ChangeState({.id = record.id, .from = "running", .to = "deleted"}, SomeEvent()),
             Code::kConflict);
  EXPECT_TRUE(*database_->FindIdempotencyKey("uid 0", "k"));
  ASSERT_TRUE(database_->ChangeState({.id = record.id, .from = "pending", .to = "deleted"}, SomeEvent()));
  EXPECT_FALSE(*database_->FindIdempotencyKey("uid 0", "k"));
  EXPECT_TRUE(*database_->FindIdempotencyKey("uid 0", "other"));
}

TEST_F(DatabaseKeys, OutliveTheirSandboxAndEndByAge) {
  const SandboxRecord record = SomeSandbox();
  ASSERT_TRUE(database_->InsertSandbox(record, Key("uid 0", "k", record.id), SomeEvent()));
  ASSERT_TRUE(database_->ChangeState({.id = record.id, .from = "running", .to = "deleted"}, SomeEvent()));
  ASSERT_EQ(*database_->ForgetDeletedSandboxes({}), 1U);
  EXPECT_TRUE(*database_->FindIdempotencyKey("uid 0", "k"));
  EXPECT_EQ(*database_->ForgetIdempotencyKeys(10), 0U);
  EXPECT_EQ(*database_->ForgetIdempotencyKeys(11), 1U);
  EXPECT_FALSE(*database_->FindIdempotencyKey("uid 0", "k"));
}

}  // namespace
}  // namespace caisson::state
