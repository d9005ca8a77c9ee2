#include "caisson/sandbox/spooled_command_fixture.h"

namespace caisson::sandbox {
namespace {

TEST_F(SpooledCommandTest, EndsWithItsOutput) {
  Begin();
  ASSERT_TRUE(os::WriteAll(out_.get(), "out"));
  ASSERT_TRUE(os::WriteAll(err_.get(), "error"));
  SayEnd(3);
  const auto result = Ended();
  ASSERT_TRUE(result);
  ASSERT_TRUE(std::holds_alternative<Exited>(result->outcome));
  EXPECT_EQ(std::get<Exited>(result->outcome).code, 3);
  EXPECT_EQ(result->out.kept, "out");
  EXPECT_EQ(result->err.kept, "error");
  EXPECT_EQ(result->cpu, std::chrono::microseconds(7));
  EXPECT_EQ(launcher_->Await(Verb::kPark).fds.size(), plan::kLeastParkedFds + 1) << "with its input";
  EXPECT_EQ(launcher_->Await(Verb::kUnpark).request.leaf, 1U);
  EXPECT_FALSE(had_ended_) << "its readers hear of it after whoever writes it down";
  command_.reset();
  EXPECT_TRUE(output_->Follow(3, 5)->Finished());
  EXPECT_TRUE(IsEmpty(leaf_kill_));
}

TEST_F(SpooledCommandTest, WhoseEndIsNotRecordedIsLeftToTheNextEngine) {
  recorded_ = Recorded::kNo;
  Begin();
  SayEnd(3);
  ASSERT_TRUE(Ended());
  command_.reset();
  instance_.reset();
  link_.reset();
  EXPECT_EQ(launcher_->Count(Verb::kUnpark), 0U);
  EXPECT_FALSE(output_->Follow(0, 0)->Finished()) << "nobody is told of an end that is not recorded";
}

TEST_F(SpooledCommandTest, WithoutAWordOfItsEndItsSandboxHasEnded) {
  Begin();
  end_.Reset();
  const auto result = Ended();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::kUnavailable);
}

TEST_F(SpooledCommandTest, IsCancelled) {
  Begin();
  command_->Cancel();
  EXPECT_FALSE(IsEmpty(leaf_kill_));
  EXPECT_EQ(launcher_->Await(Verb::kPark, 2).request.parked.decided, 2U) << "the next engine decides the same";
  SayEnd(0, SIGKILL);
  const auto result = Ended();
  ASSERT_TRUE(result);
  EXPECT_TRUE(std::holds_alternative<Cancelled>(result->outcome));
  EXPECT_TRUE(IsEmpty(launcher_->kill()));
}

TEST_F(SpooledCommandTest, TimesOut) {
  Begin(nanoseconds(1));
  EXPECT_EQ(launcher_->Await(Verb::kPark, 2).request.parked.decided, 1U);
  SayEnd(0, SIGKILL);
  const auto result = Ended();
  ASSERT_TRUE(result);
  EXPECT_TRUE(std::holds_alternative<TimedOut>(result->outcome));
}

TEST_F(SpooledCommandTest, AGuestThatDoesNotReportAKillEndsTheSandbox) {
  Begin(nanoseconds(1));
  const auto result = Ended();
  ASSERT_TRUE(result);
  EXPECT_TRUE(std::holds_alternative<TimedOut>(result->outcome));
  EXPECT_FALSE(IsEmpty(launcher_->kill()));
}

TEST_F(SpooledCommandTest, ParksAllThatIsOpenAlsoAfterTheEndOfAStream) {
  Begin();
  ASSERT_TRUE(os::WriteAll(out_.get(), "x"));
  out_.Reset();
  // Twice, so that the end of the other stream was seen in between.
  for (const std::uint64_t total : {1U, 2U}) {
    ASSERT_TRUE(os::WriteAll(err_.get(), "y"));
    AwaitTotal(OutputStreamKind::kStderr, total);
  }
  ASSERT_TRUE(command_->CloseInput());
  EXPECT_EQ(launcher_->Await(Verb::kPark, 2).fds.size(), plan::kLeastParkedFds);
  SayEnd(0);
  const auto result = Ended();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->out.kept, "x");
  EXPECT_EQ(result->err.kept, "yy");
}

TEST_F(SpooledCommandTest, AStreamOfMuchGetsAStageThatTheNextEngineIsGiven) {
  Begin();
  const std::string much(MiB(3).value, 'm');
  ASSERT_TRUE(os::WriteAll(out_.get(), much));
  const auto& parked = launcher_->Await(Verb::kPark, 2);
  EXPECT_EQ(parked.request.parked.staged_stream, 1U);
  EXPECT_EQ(parked.fds.size(), plan::kMostParkedFds);
  ASSERT_TRUE(os::WriteAll(out_.get(), "end"));
  ASSERT_TRUE(os::WriteAll(err_.get(), std::string(MiB(3).value, 'e')));
  SayEnd(0);
  const auto result = Ended();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->out.total_bytes, much.size() + 3);
  EXPECT_EQ(result->out.tail.substr(result->out.tail.size() - 4), "mend");
  EXPECT_EQ(result->err.total_bytes, MiB(3).value);
  LetGo();
  EXPECT_EQ(launcher_->Count(Verb::kPark), 2U) << "there is one stage";
}

TEST_F(SpooledCommandTest, WhatLiesInAStageComesFirst) {
  stage_ = *OutputStage::Make();
  ASSERT_TRUE(os::WriteAll(stage_->Ends()[1], "first "));
  ASSERT_TRUE(os::WriteAll(out_.get(), "second"));
  out_.Reset();
  Begin();
  SayEnd(0);
  const auto result = Ended();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->out.kept, "first second");
}

TEST_F(SpooledCommandTest, ItsTimeStandsStill) {
  Begin();
  command_->Pause();
  const plan::ParkedCommand paused = launcher_->Await(Verb::kPark, 2).request.parked;
  EXPECT_EQ(paused.stands_still, 1U);
  EXPECT_GT(nanoseconds(paused.deadline_ns), minutes(58));
  EXPECT_LE(nanoseconds(paused.deadline_ns), minutes(60));
  command_->Pause();
  command_->Resume();
  const plan::ParkedCommand resumed = launcher_->Await(Verb::kPark, 3).request.parked;
  EXPECT_EQ(resumed.stands_still, 0U);
  EXPECT_GT(Clock::time_point(nanoseconds(resumed.deadline_ns)), Clock::now() + minutes(50));
  command_->Resume();
  SayEnd(0);
  EXPECT_TRUE(Ended());
  EXPECT_EQ(launcher_->Count(Verb::kPark), 3U) << "what changes nothing tells nothing";
}

TEST_F(SpooledCommandTest, TimesOutOnlyWhenItsSandboxGoesOn) {
  Begin(-minutes(1), Sandbox::kIsFrozen);
  ASSERT_TRUE(os::WriteAll(out_.get(), "x"));
  AwaitTotal(OutputStreamKind::kStdout, 1);
  EXPECT_EQ(launcher_->Await(Verb::kPark).request.parked.stands_still, 1U);
  EXPECT_TRUE(IsEmpty(leaf_kill_));
  command_->Resume();
  EXPECT_EQ(launcher_->Await(Verb::kPark, 3).request.parked.decided, 1U);
  SayEnd(0, SIGKILL);
  const auto result = Ended();
  ASSERT_TRUE(result);
  EXPECT_TRUE(std::holds_alternative<TimedOut>(result->outcome));
}

// A frozen guest cannot report the end, and that is no reason to end the sandbox.
TEST_F(SpooledCommandTest, IsCancelledInAFrozenSandbox) {
  Begin(minutes(60), Sandbox::kIsFrozen);
  command_->Cancel();
  EXPECT_FALSE(IsEmpty(leaf_kill_));
  auto future = result_.get_future();
  constexpr std::chrono::milliseconds kMoreThanAKillMayTake{1500};
  EXPECT_EQ(future.wait_for(kMoreThanAKillMayTake), std::future_status::timeout);
  EXPECT_TRUE(IsEmpty(launcher_->kill()));
  command_->Resume();
  SayEnd(0, SIGKILL);
  ASSERT_EQ(future.wait_for(kPatience), std::future_status::ready);
  const auto result = future.get();
  ASSERT_TRUE(result);
  EXPECT_TRUE(std::holds_alternative<Cancelled>(result->outcome));
}

TEST_F(SpooledCommandTest, NothingCanBeDoneToWhatHasEnded) {
  Begin();
  SayEnd(0);
  ASSERT_TRUE(Ended());
  EXPECT_EQ(command_->WriteInput("x").error().code(), Code::kConflict);
  EXPECT_EQ(command_->CloseInput().error().code(), Code::kConflict);
  EXPECT_EQ(command_->Signal(SIGTERM).error().code(), Code::kConflict);
  command_->Cancel();
  command_->Pause();
  command_->Resume();
  EXPECT_TRUE(IsEmpty(leaf_kill_));
  LetGo();
  EXPECT_EQ(launcher_->Count(Verb::kPark), 1U);
}

TEST_F(SpooledCommandTest, TheEndOfItsSandboxIsTriedAgainUntilNothingIsLeft) {
  auto taken = backend::Instance::TakeOver(*link_, kLivingSlot);
  ASSERT_TRUE(taken);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const Status failed = taken->instance->Destroy();
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code(), Code::kDeadlineExceeded);
  }
  EXPECT_EQ(launcher_->Count(Verb::kDestroy), 0U);
  launcher_->EndGuest();
  EXPECT_TRUE(taken->instance->Destroy());
  EXPECT_TRUE(taken->instance->Destroy());
  taken->instance.reset();
  instance_.reset();
  link_.reset();
  launcher_->Await(Verb::kDestroy, 2);
  EXPECT_EQ(launcher_->Count(Verb::kDestroy), 2U) << "one for each sandbox";
}

TEST_F(SpooledCommandTest, IsLeftToTheNextEngine) {
  Begin();
  LetGo();
  EXPECT_EQ(launcher_->Count(Verb::kPark), 1U);
  EXPECT_EQ(launcher_->Count(Verb::kUnpark), 0U);
  EXPECT_TRUE(IsEmpty(leaf_kill_));
  EXPECT_EQ(result_.get_future().wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  // What it still writes waits in the parked pipes.
  ASSERT_TRUE(os::WriteAll(out_.get(), "later"));
  const Launcher::Told& told = launcher_->Await(Verb::kPark);
  std::array<char, 10> bytes{};
  EXPECT_EQ(read(told.fds[1].get(), bytes.data(), bytes.size()), 5);
}

}  // namespace
}  // namespace caisson::sandbox
