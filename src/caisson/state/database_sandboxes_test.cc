#include <set>

#include "caisson/state/data_folder.h"

namespace caisson::state {
namespace {

class DatabaseSandboxes : public testing::Test {
 protected:
  void SetUp() override {
    database_ = folder_.Open();
    ASSERT_NE(database_, nullptr);
  }
  Result<std::uint64_t> Add(const SandboxRecord& record) { return database_->InsertSandbox(record, {}, SomeEvent()); }
  SandboxRecord Get(const SandboxId& id) {
    auto record = database_->GetSandbox(id);
    if (!record) ADD_FAILURE() << Words(record.error());
    return record ? *record : SandboxRecord{.id = id};
  }
  std::vector<std::string> Ids(const SandboxFilter& filter) {
    std::vector<std::string> ids;
    const auto page = database_->ListSandboxes(filter);
    EXPECT_TRUE(page) << Words(page.error());
    if (page) {
      for (const SandboxRecord& record : page->sandboxes) ids.push_back(record.id.text());
    }
    return ids;
  }

  DataFolder folder_;
  std::unique_ptr<Database> database_;
};

TEST_F(DatabaseSandboxes, ARecordComesBackAsItWas) {
  SandboxRecord record{.id = SandboxId::Random()};
  record.name = "build-7";
  record.state = "pausing";
  record.reason = "asked for by uid 0";
  record.spec = std::string("\0\xff opaque", 9);
  record.labels = {{"team", "red"}, {"", "empty key"}, {"empty value", ""}};
  record.created_at = 1'764'489'702'123;
  record.changed_at = 2;
  record.deadline_at = 3;
  record.expires_at = 4;
  record.idle_timeout = std::chrono::minutes(15);
  record.used_lifetime = std::chrono::milliseconds(77);
  record.running_since = std::chrono::milliseconds(78);
  record.last_active_at = 6;
  record.last_step = 9'223'372'036'854'775'807U;
  record.launcher = std::string("\0pid 12", 7);
  record.on_end = "keep";
  ASSERT_TRUE(Add(record));

  const SandboxRecord read = Get(record.id);
  EXPECT_EQ(read.id, record.id);
  EXPECT_EQ(read.name, record.name);
  EXPECT_EQ(read.state, record.state);
  EXPECT_EQ(read.reason, record.reason);
  EXPECT_EQ(read.spec, record.spec);
  EXPECT_EQ(read.labels, record.labels);
  EXPECT_EQ(read.created_at, record.created_at);
  EXPECT_EQ(read.changed_at, record.changed_at);
  EXPECT_EQ(read.deadline_at, record.deadline_at);
  EXPECT_EQ(read.expires_at, record.expires_at);
  EXPECT_EQ(read.idle_timeout, record.idle_timeout);
  EXPECT_EQ(read.used_lifetime, record.used_lifetime);
  EXPECT_EQ(read.running_since, record.running_since);
  EXPECT_EQ(read.last_active_at, record.last_active_at);
  EXPECT_EQ(read.last_step, record.last_step);
  EXPECT_EQ(read.launcher, record.launcher);
  EXPECT_EQ(read.on_end, record.on_end);
}

TEST_F(DatabaseSandboxes, WhatIsAbsentStaysAbsent) {
  const SandboxId id = AddSandbox(*database_);
  const SandboxRecord read = Get(id);
  EXPECT_FALSE(read.name || read.deadline_at || read.expires_at || read.idle_timeout || read.running_since);
  EXPECT_TRUE(read.labels.empty());
}

TEST_F(DatabaseSandboxes, RefusesWhatNoLayerMaySend) {
  SandboxRecord record = SomeSandbox();
  record.state = "sleeping";
  ExpectCode(Add(record), Code::kInvalidArgument);
  record = SomeSandbox();
  record.last_step = 9'223'372'036'854'775'808U;
  ExpectCode(Add(record), Code::kInvalidArgument);
  record = SomeSandbox();
  record.spec.assign(33U << 20U, 'x');
  ExpectCode(Add(record), Code::kInvalidArgument);
  ExpectCode(database_->GetSandbox(record.id), Code::kNotFound);
  EXPECT_EQ(database_->NewestEvent().value_or(1), 0U) << "the event of a refused record was kept";
  EXPECT_TRUE(Add(SomeSandbox())) << "a refusal broke the connection";
}

TEST_F(DatabaseSandboxes, ANameIsUniqueUntilItsSandboxIsDeleted) {
  SandboxRecord first = SomeSandbox();
  first.name = "web";
  ASSERT_TRUE(Add(first));
  SandboxRecord second = SomeSandbox();
  second.name = "web";
  const auto refused = Add(second);
  ExpectCode(refused, Code::kAlreadyExists);
  EXPECT_NE(Words(refused.error()).find(first.id.text()), std::string::npos);

  ASSERT_TRUE(database_->ChangeState({.id = first.id, .from = "running", .to = "deleted"}, SomeEvent()));
  ASSERT_TRUE(Add(second));
  const auto found = database_->FindSandbox("web");
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->id, second.id);
  EXPECT_EQ(Get(first.id).name, "web");
  ExpectCode(Add(second), Code::kAlreadyExists);
}

TEST_F(DatabaseSandboxes, IsFoundByTheBeginningOfItsId) {
  const SandboxId id = AddSandbox(*database_);
  for (int i = 0; i < 20; ++i) AddSandbox(*database_);
  const auto found = database_->FindSandboxIds(id.text().substr(0, 20), 2);
  ASSERT_TRUE(found) << Words(found.error());
  EXPECT_EQ(*found, std::vector{id});
  EXPECT_EQ(database_->FindSandboxIds("sb_", 2)->size(), 2U);
  for (const char* nothing : {"", "%", "sb%", "sb_~", "~"}) {
    EXPECT_EQ(database_->FindSandboxIds(nothing, 50)->size(), std::string_view(nothing).empty() ? 21U : 0U) << nothing;
  }
}

TEST_F(DatabaseSandboxes, AChangeOfStateNeedsTheOldOneAndBringsItsEvent) {
  const SandboxId id = AddSandbox(*database_);
  StateChange change{.id = id, .from = "running", .to = "pausing", .at = 50, .reason = "asked", .deadline_at = 60};
  change.also.launcher = "new";
  change.also.expires_at.emplace(99);
  const auto number = database_->ChangeState(change, {.time = 50, .type = "sandbox.pausing", .sandbox = id.text()});
  ASSERT_TRUE(number) << Words(number.error());
  const SandboxRecord read = Get(id);
  EXPECT_EQ(read.state, "pausing");
  EXPECT_EQ(read.reason, "asked");
  EXPECT_EQ(read.changed_at, 50);
  EXPECT_EQ(read.deadline_at, 60);
  EXPECT_EQ(read.expires_at, 99);
  EXPECT_EQ(read.launcher, "new");
  const auto events = database_->EventsAfter(*number - 1, 10);
  ASSERT_TRUE(events && events->size() == 1);
  EXPECT_EQ(events->front().type, "sandbox.pausing");

  const auto again = database_->ChangeState(change, SomeEvent());
  ExpectCode(again, Code::kConflict);
  EXPECT_NE(again.error().message().find("pausing"), std::string::npos) << Words(again.error());
  EXPECT_EQ(again.error().details(), (std::vector<std::pair<std::string, std::string>>{{"state", "pausing"}}));
  EXPECT_EQ(database_->NewestEvent().value_or(0), *number) << "a refused change left its event";

  change.id = SandboxId::Random();
  ExpectCode(database_->ChangeState(change, SomeEvent()), Code::kNotFound);
  change = {.id = id, .from = "pausing", .to = "paused", .at = 70};
  ASSERT_TRUE(database_->ChangeState(change, SomeEvent()));
  EXPECT_FALSE(Get(id).deadline_at) << "the deadline of the state before stayed";
  EXPECT_EQ(Get(id).expires_at, 99);
}

TEST_F(DatabaseSandboxes, AnUpdateChangesWhatItHoldsAndNothingElse) {
  SandboxRecord record = SomeSandbox();
  record.labels = {{"a", "1"}};
  record.launcher = "old";
  record.expires_at = 7;
  record.running_since = std::chrono::milliseconds(8);
  ASSERT_TRUE(Add(record));
  ASSERT_TRUE(database_->UpdateSandbox(record.id, {.last_active_at = 500}));
  EXPECT_EQ(Get(record.id).last_active_at, 500);
  EXPECT_EQ(Get(record.id).launcher, "old");
  EXPECT_EQ(Get(record.id).expires_at, 7);
  EXPECT_EQ(Get(record.id).running_since, std::chrono::milliseconds(8));
  EXPECT_EQ(Get(record.id).labels, record.labels);

  SandboxUpdate update;
  update.launcher = "";
  update.expires_at.emplace();
  update.running_since.emplace();
  update.used_lifetime = std::chrono::seconds(1);
  update.labels = {{"b", "2"}, {"c", "3"}};
  ASSERT_TRUE(database_->UpdateSandbox(record.id, update));
  EXPECT_EQ(Get(record.id).launcher, "");
  EXPECT_FALSE(Get(record.id).expires_at);
  EXPECT_FALSE(Get(record.id).running_since);
  EXPECT_EQ(Get(record.id).used_lifetime, std::chrono::seconds(1));
  EXPECT_EQ(Get(record.id).labels, *update.labels);
  ExpectCode(database_->UpdateSandbox(SandboxId::Random(), update), Code::kNotFound);
}

TEST_F(DatabaseSandboxes, PagesHoldEachOnceInTheOrderOfCreation) {
  std::vector<std::string> made;
  // Several of one millisecond: their ids decide.
  for (int i = 0; i < 25; ++i) made.push_back(AddSandbox(*database_, 1000 - i / 10).text());
  std::vector<std::string> seen;
  UnixMs last = 0;
  SandboxFilter filter{.limit = 4};
  do {
    const auto page = database_->ListSandboxes(filter);
    ASSERT_TRUE(page) << Words(page.error());
    for (const SandboxRecord& record : page->sandboxes) {
      EXPECT_GE(record.created_at, last);
      last = record.created_at;
      seen.push_back(record.id.text());
    }
    filter.cursor = page->next_cursor;
    if (seen.size() == 4) made.push_back(AddSandbox(*database_, 2000).text());
  } while (filter.cursor && seen.size() < 100);
  EXPECT_EQ(std::set(seen.begin(), seen.end()), std::set(made.begin(), made.end()));
  EXPECT_EQ(seen.size(), made.size());
}

TEST_F(DatabaseSandboxes, TheLastFullPageHasNoNext) {
  for (int i = 0; i < 4; ++i) AddSandbox(*database_);
  const auto page = database_->ListSandboxes({.limit = 4});
  ASSERT_TRUE(page);
  EXPECT_EQ(page->sandboxes.size(), 4U);
  EXPECT_FALSE(page->next_cursor);
}

TEST_F(DatabaseSandboxes, AListTakesStateAndLabels) {
  std::multimap<std::string, std::string> labels = {{"team", "red"}, {"tier", "1"}};
  SandboxRecord red = SomeSandbox();
  red.labels = {labels.begin(), labels.end()};
  ASSERT_TRUE(Add(red));
  SandboxRecord blue = SomeSandbox();
  blue.labels = {{"team", "blue"}, {"tier", "1"}};
  blue.state = "paused";
  ASSERT_TRUE(Add(blue));
  SandboxRecord gone = SomeSandbox();
  gone.labels = {labels.begin(), labels.end()};
  gone.state = "deleted";
  ASSERT_TRUE(Add(gone));

  EXPECT_EQ(Ids({}).size(), 2U);
  EXPECT_EQ(Ids({.state = "paused"}), std::vector{blue.id.text()});
  EXPECT_EQ(Ids({.state = "deleted"}), std::vector{gone.id.text()});
  EXPECT_EQ(Ids({.labels = labels}), std::vector{red.id.text()});
  EXPECT_EQ(Ids({.labels = {{"tier", "1"}}}).size(), 2U);
  EXPECT_EQ(Ids({.state = "paused", .labels = labels}), std::vector<std::string>{});
  EXPECT_EQ(Ids({.labels = {{"team", "1"}}}), std::vector<std::string>{});
  EXPECT_EQ(Ids({.labels = {{"tier", "1"}, {"tier", "1"}}}).size(), 2U);
  EXPECT_EQ(Ids({.labels = {{"team", "red"}, {"team", "blue"}}}), std::vector<std::string>{});
  EXPECT_EQ(Ids({}).size(), 2U) << "a filter stayed behind in the statement";

  for (std::uint32_t i = 0; i < kMaxFilterLabels; ++i) labels.emplace("more" + std::to_string(i), "x");
  ExpectCode(database_->ListSandboxes({.labels = labels}), Code::kInvalidArgument);
}

TEST_F(DatabaseSandboxes, RefusesPagesAndCursorsThatAreNone) {
  const std::string id = AddSandbox(*database_).text();
  for (const std::uint32_t limit : {0U, kMaxPage + 1}) {
    ExpectCode(database_->ListSandboxes({.limit = limit}), Code::kInvalidArgument);
  }
  for (const std::string& cursor : {std::string(), std::string("x"), std::string("1000"), std::string("1000."),
                                    "." + id, "01000." + id, "99999999999999999999." + id, "1000." + id + " ",
                                    " 1000." + id, "1000." + id.substr(1), std::string("1000.' OR 1=1 --")}) {
    ExpectCode(database_->ListSandboxes({.cursor = cursor}), Code::kInvalidArgument);
  }
  EXPECT_TRUE(database_->ListSandboxes({.cursor = "1000." + id}));
}

TEST_F(DatabaseSandboxes, CountsByState) {
  AddSandbox(*database_);
  const SandboxId id = AddSandbox(*database_);
  ASSERT_TRUE(database_->ChangeState({.id = id, .from = "running", .to = "failed"}, SomeEvent()));
  AddSandbox(*database_);
  EXPECT_EQ(*database_->CountSandboxes(), (std::map<std::string, std::uint64_t>{{"running", 2}, {"failed", 1}}));
}

TEST_F(DatabaseSandboxes, ForgetsDeletedOnesByAgeAndCountWithAllTheyHad) {
  std::vector<SandboxId> ids;
  for (UnixMs at = 1; at <= 6; ++at) {
    SandboxRecord record = SomeSandbox();
    record.labels = {{"n", "x"}};
    ASSERT_TRUE(Add(record));
    ids.push_back(record.id);
    const auto command = SomeCommand(record.id, "cm_" + std::to_string(at));
    ASSERT_TRUE(database_->InsertCommand(command, "running"));
    if (at == 1) continue;  // an old one that is not deleted
    ASSERT_TRUE(database_->ChangeState({.id = record.id, .from = "running", .to = "deleted", .at = at}, SomeEvent()));
  }
  EXPECT_EQ(*database_->ForgetDeletedSandboxes({.ended_before = 3, .keep_newest = 100}), 1U);
  ExpectCode(database_->GetSandbox(ids[1]), Code::kNotFound);
  ExpectCode(database_->GetCommand("cm_2"), Code::kNotFound);
  EXPECT_EQ(*database_->ForgetDeletedSandboxes({.ended_before = 0, .keep_newest = 2, .at_most = 1}), 1U);
  ExpectCode(database_->GetSandbox(ids[2]), Code::kNotFound);
  EXPECT_EQ(*database_->ForgetDeletedSandboxes({.ended_before = 0, .keep_newest = 2}), 1U);
  EXPECT_EQ(*database_->ForgetDeletedSandboxes({.ended_before = 0, .keep_newest = 2}), 0U);
  EXPECT_EQ(*database_->CountSandboxes(), (std::map<std::string, std::uint64_t>{{"running", 1}, {"deleted", 2}}));
  EXPECT_EQ(*database_->ForgetDeletedSandboxes({.ended_before = 0, .keep_newest = 0}), 2U);
  EXPECT_TRUE(database_->GetSandbox(ids[0]));
}

TEST_F(DatabaseSandboxes, SurviveTheirDatabase) {
  SandboxRecord record = SomeSandbox();
  record.labels = {{"a", "1"}};
  ASSERT_TRUE(Add(record));
  database_.reset();
  database_ = folder_.Open();
  ASSERT_NE(database_, nullptr);
  EXPECT_EQ(Get(record.id).labels, record.labels);
}

}  // namespace
}  // namespace caisson::state
