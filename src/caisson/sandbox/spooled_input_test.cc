#include "caisson/sandbox/spooled_command_fixture.h"

namespace caisson::sandbox {
namespace {

using SpooledInputTest = SpooledCommandTest;

TEST_F(SpooledInputTest, TimesOutWhileItWaitsForInput) {
  Begin(nanoseconds(1));
  launcher_->Await(Verb::kExamineLeaf);
  SayEnd(0, SIGKILL);
  const auto result = Ended();
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->waits_for_input);
}

TEST_F(SpooledInputTest, AnInputThatWasJustGivenIsNotWaitedFor) {
  Begin(-minutes(1), Sandbox::kIsFrozen);
  const auto given = Clock::now();
  ASSERT_TRUE(command_->WriteInput("x"));
  command_->Resume();
  EXPECT_EQ(launcher_->Await(Verb::kPark, 3).request.parked.decided, 1U);
  if (Clock::now() - given > std::chrono::milliseconds(200)) GTEST_SKIP() << "this machine is too slow to tell";
  EXPECT_EQ(launcher_->Count(Verb::kExamineLeaf), 0U);
  SayEnd(0, SIGKILL);
  const auto result = Ended();
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->waits_for_input);
}

TEST_F(SpooledInputTest, TakesInputUntilThatIsClosed) {
  Begin();
  const auto taken = command_->WriteInput("hello");
  ASSERT_TRUE(taken);
  EXPECT_EQ(*taken, 5U);
  std::array<char, 10> bytes{};
  ASSERT_EQ(read(in_.get(), bytes.data(), bytes.size()), 5);
  EXPECT_EQ(std::string_view(bytes.data(), 5), "hello");
  const auto part = command_->WriteInput(std::string(std::size_t{4} << 20U, 'x'));
  ASSERT_TRUE(part);
  EXPECT_GT(*part, 0U);
  EXPECT_LT(*part, std::size_t{4} << 20U);
  ASSERT_TRUE(command_->CloseInput());
  EXPECT_EQ(command_->WriteInput("x").error().code(), Code::kConflict);
  EXPECT_EQ(command_->CloseInput().error().code(), Code::kConflict);
}

TEST_F(SpooledInputTest, KnowsThatNobodyReadsItsInput) {
  Begin();
  in_.Reset();
  EXPECT_EQ(command_->WriteInput("x").error().code(), Code::kConflict);
}

// Nobody reads while it is begun: what finds no room in the pipe must not be waited for.
TEST_F(SpooledInputTest, ItsFirstInputIsWrittenAsItIsRead) {
  first_input_ = PatternAt(0, 1U << 20U);
  Begin();
  EXPECT_EQ(*command_->WriteInput("later"), 0U) << "the first comes first";
  EXPECT_TRUE(command_->CloseInput());
  EXPECT_TRUE(ReadInput(first_input_.size()) == first_input_);
  EXPECT_EQ(command_->WriteInput("x").error().code(), Code::kConflict);
  SayEnd(0);
  EXPECT_TRUE(Ended());
}

TEST_F(SpooledInputTest, ItsInputEndsAfterTheFirst) {
  first_input_ = PatternAt(0, 1U << 20U);
  after_first_ = SpooledCommand::AfterFirst::kCloses;
  Begin();
  EXPECT_EQ(launcher_->Await(Verb::kPark).fds.size(), plan::kLeastParkedFds) << "the next engine has no more of it";
  EXPECT_TRUE(ReadInput(2 * first_input_.size()) == first_input_);
  SayEnd(0);
  EXPECT_TRUE(Ended());
}

}  // namespace
}  // namespace caisson::sandbox
