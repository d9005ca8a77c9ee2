#include "caisson/state/data_folder.h"

namespace caisson::state {
namespace {

class DatabaseCommands : public testing::Test {
 protected:
  DatabaseCommands() : database_(folder_.Open()), sandbox_(AddSandbox(*database_)) {}
  std::uint64_t Start(const std::string& id, const SandboxId& sandbox) {
    const auto step = database_->InsertCommand(SomeCommand(sandbox, id), "running");
    EXPECT_TRUE(step) << Words(step.error());
    return step.value_or(0);
  }
  void End(const std::string& id, UnixMs at) {
    const auto ended = database_->EndCommand({.id = id, .at = at}, SomeEvent("command.ended"));
    EXPECT_TRUE(ended) << Words(ended.error());
  }

  DataFolder folder_;
  std::unique_ptr<Database> database_;
  SandboxId sandbox_;
};

TEST_F(DatabaseCommands, GoFromStartToEnd) {
  CommandRecord record = SomeCommand(sandbox_, "cm_a");
  record.spec = std::string("\0argv", 5);
  record.step = 77;
  const auto step = database_->InsertCommand(record, "running");
  ASSERT_TRUE(step) << Words(step.error());
  EXPECT_EQ(*step, 1U);
  auto read = database_->GetCommand("cm_a");
  ASSERT_TRUE(read) << Words(read.error());
  EXPECT_EQ(read->sandbox, sandbox_);
  EXPECT_EQ(read->step, 1U);
  EXPECT_EQ(read->state, CommandState::kStarting);
  EXPECT_EQ(read->spec, record.spec);
  EXPECT_EQ(read->started_at, 2000);
  EXPECT_EQ(read->timeout, std::chrono::seconds(30));
  EXPECT_FALSE(read->ended_at || read->result);
  EXPECT_EQ(database_->GetSandbox(sandbox_)->last_active_at, 2000);

  const std::string handle("\0leaf", 5);
  ASSERT_TRUE(database_->SetCommandRunning("cm_a", handle));
  read = database_->GetCommand("cm_a");
  EXPECT_EQ(read->state, CommandState::kRunning);
  EXPECT_EQ(read->handle, handle);
  ExpectCode(database_->SetCommandRunning("cm_a", handle), Code::kConflict);

  const CommandEnd end{.id = "cm_a",
                       .at = 3000,
                       .summary = "exited 0",
                       .result = "opaque",
                       .stdout_bytes = 5,
                       .stderr_bytes = 1ULL << 40U};
  const auto number = database_->EndCommand(end, SomeEvent("command.ended"));
  ASSERT_TRUE(number) << Words(number.error());
  read = database_->GetCommand("cm_a");
  EXPECT_EQ(read->state, CommandState::kEnded);
  EXPECT_EQ(read->ended_at, 3000);
  EXPECT_EQ(read->result, "opaque");
  EXPECT_EQ(read->summary, "exited 0");
  EXPECT_EQ(read->spec, record.spec);
  EXPECT_EQ(read->stdout_bytes, 5U);
  EXPECT_EQ(read->stderr_bytes, 1ULL << 40U);
  EXPECT_EQ(database_->EventsAfter(*number - 1, 10)->front().type, "command.ended");
  EXPECT_EQ(database_->GetSandbox(sandbox_)->last_active_at, 3000);

  const auto again = database_->EndCommand(end, SomeEvent());
  ExpectCode(again, Code::kConflict);
  EXPECT_NE(again.error().message().find("ended"), std::string::npos);
  EXPECT_EQ(*database_->NewestEvent(), *number) << "the second end left its event";
  ExpectCode(database_->SetCommandRunning("cm_a", ""), Code::kConflict);
}

TEST_F(DatabaseCommands, StepsRiseByOneInEachSandbox) {
  const SandboxId other = AddSandbox(*database_);
  EXPECT_EQ(Start("cm_1", sandbox_), 1U);
  EXPECT_EQ(Start("cm_2", other), 1U);
  EXPECT_EQ(Start("cm_3", sandbox_), 2U);
  ExpectCode(database_->InsertCommand(SomeCommand(sandbox_, "cm_3"), "running"), Code::kAlreadyExists);
  EXPECT_EQ(Start("cm_4", sandbox_), 3U) << "a refused command used a step up";
  EXPECT_EQ(database_->GetSandbox(sandbox_)->last_step, 3U);
  EXPECT_EQ(database_->GetSandbox(other)->last_step, 1U);
}

TEST_F(DatabaseCommands, NeedTheirSandboxInTheRightState) {
  ExpectCode(database_->InsertCommand(SomeCommand(SandboxId::Random(), "cm_1"), "running"), Code::kNotFound);
  ASSERT_TRUE(database_->ChangeState({.id = sandbox_, .from = "running", .to = "stopping"}, SomeEvent()));
  const auto refused = database_->InsertCommand(SomeCommand(sandbox_, "cm_1"), "running");
  ExpectCode(refused, Code::kConflict);
  EXPECT_NE(refused.error().message().find("stopping"), std::string::npos) << Words(refused.error());
}

TEST_F(DatabaseCommands, UnknownOnesAreNotFound) {
  ExpectCode(database_->GetCommand("cm_x"), Code::kNotFound);
  ExpectCode(database_->SetCommandRunning("cm_x", ""), Code::kNotFound);
  ExpectCode(database_->EndCommand({.id = "cm_x"}, SomeEvent()), Code::kNotFound);
  for (const std::string& id : {std::string(), std::string(65, 'c')}) {
    ExpectCode(database_->InsertCommand(SomeCommand(sandbox_, id), "running"), Code::kInvalidArgument);
  }
}

TEST_F(DatabaseCommands, AreListedByStep) {
  const SandboxId other = AddSandbox(*database_);
  Start("cm_other", other);
  for (const char* id : {"cm_3", "cm_1", "cm_2"}) Start(id, sandbox_);
  const auto ended = database_->EndCommand({.id = "cm_1", .at = 1, .summary = "short", .result = "large"}, SomeEvent());
  ASSERT_TRUE(ended);
  const auto first = database_->ListCommands(sandbox_, {.limit = 2});
  ASSERT_TRUE(first && first->size() == 2);
  EXPECT_EQ((*first)[0].id, "cm_3");
  EXPECT_EQ((*first)[1].id, "cm_1");
  EXPECT_EQ((*first)[1].summary, "short");
  EXPECT_FALSE((*first)[1].result) << "a list reads large results that nobody asked for";
  const auto rest = database_->ListCommands(sandbox_, {.after_step = 1, .limit = 10, .results = Results::kRead});
  ASSERT_TRUE(rest && rest->size() == 2);
  EXPECT_EQ((*rest)[0].result, "large");
  EXPECT_EQ((*rest)[1].id, "cm_2");
  ExpectCode(database_->ListCommands(sandbox_, {.limit = 0}), Code::kInvalidArgument);
  ExpectCode(database_->ListCommands(sandbox_, {.limit = kMaxPage + 1}), Code::kInvalidArgument);
}

TEST_F(DatabaseCommands, ThoseThatHaveNotEndedAreFoundAfterARestart) {
  for (const char* id : {"cm_1", "cm_2", "cm_3"}) Start(id, sandbox_);
  ASSERT_TRUE(database_->SetCommandRunning("cm_2", "here"));
  End("cm_1", 5);
  EXPECT_EQ(*database_->CountCommandsNotEnded(sandbox_), 2U);
  database_.reset();
  database_ = folder_.Open();
  const auto open = database_->CommandsNotEnded();
  ASSERT_TRUE(open && open->size() == 2) << open->size();
  EXPECT_EQ((*open)[0].handle, "here");
  EXPECT_EQ((*open)[1].state, CommandState::kStarting);
}

TEST_F(DatabaseCommands, EndedOnesAreForgottenByAgeAndCount) {
  for (int i = 1; i <= 6; ++i) Start("cm_" + std::to_string(i), sandbox_);
  for (int i = 2; i <= 6; ++i) End("cm_" + std::to_string(i), 100 + i);
  EXPECT_EQ(*database_->ForgetEndedCommands({.ended_before = 103, .keep_newest = 100}), 1U);
  ExpectCode(database_->GetCommand("cm_2"), Code::kNotFound);
  EXPECT_EQ(*database_->ForgetEndedCommands({.ended_before = 0, .keep_newest = 1, .at_most = 2}), 2U);
  EXPECT_TRUE(database_->GetCommand("cm_5"));
  EXPECT_EQ(*database_->ForgetEndedCommands({.ended_before = 0, .keep_newest = 1}), 1U);
  EXPECT_TRUE(database_->GetCommand("cm_6"));
  EXPECT_TRUE(database_->GetCommand("cm_1")) << "it has not ended";
  EXPECT_EQ(Start("cm_7", sandbox_), 7U) << "a step was given twice";
}

TEST(Commands, WhoseOutputTakesRoom) {
  const DataFolder folder;
  const auto database = folder.Open();
  ASSERT_NE(database, nullptr);
  const SandboxId sandbox = AddSandbox(*database);
  EXPECT_EQ(*database->SpoolBytes(), 0U);
  UnixMs at = 9000;
  for (const auto& [id, bytes] : {std::pair("cm_a", 5U), std::pair("cm_b", 0U), std::pair("cm_c", 7U)}) {
    ASSERT_TRUE(database->InsertCommand(SomeCommand(sandbox, id), "running"));
    ASSERT_TRUE(database->EndCommand({.id = id, .at = --at, .spool_bytes = bytes}, SomeEvent()));
  }
  EXPECT_EQ(*database->SpoolBytes(), 12U);
  const auto oldest = database->OldestSpools(10);
  ASSERT_TRUE(oldest) << Words(oldest.error());
  ASSERT_EQ(oldest->size(), 2U);
  EXPECT_EQ(oldest->front().command, "cm_c") << "it ended first";
  EXPECT_EQ(oldest->front().bytes, 7U);
  EXPECT_EQ(database->OldestSpools(1)->size(), 1U);
  ASSERT_TRUE(database->ForgetSpool("cm_c"));
  ASSERT_TRUE(database->ForgetSpool("cm_none"));
  EXPECT_EQ(*database->SpoolBytes(), 5U);
  EXPECT_TRUE(*database->HasCommand("cm_c"));
  EXPECT_FALSE(*database->HasCommand("cm_none"));
  EXPECT_EQ(*database->ForgetEndedCommands({.ended_before = 100'000}), 3U);
  EXPECT_EQ(*database->SpoolBytes(), 0U) << "they went with their commands";
}

}  // namespace
}  // namespace caisson::state
