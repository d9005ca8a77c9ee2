#include "caisson/sandbox/output_stage.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "caisson/base/units.h"
#include "caisson/os/socket.h"

namespace caisson::sandbox {
namespace {

using Moved = SpoolFile::Moved;

class OutputStageTest : public testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    reading_ = os::Fd(ends[0]);
    writing_ = os::Fd(ends[1]);
  }
  std::string Staged() const {
    std::string bytes(MiB(2).value, '\0');
    const ssize_t n = read(stage_.reading(), bytes.data(), bytes.size());
    bytes.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
    return bytes;
  }

  os::Fd reading_;
  os::Fd writing_;
  OutputStage stage_ = *OutputStage::Make();
};

TEST_F(OutputStageTest, TakesWhatThePipeHolds) {
  EXPECT_EQ(stage_.Fill(reading_.get()), Moved::kNothing);
  EXPECT_FALSE(stage_.Holds());
  ASSERT_TRUE(os::WriteAll(writing_.get(), "one "));
  EXPECT_EQ(stage_.Fill(reading_.get()), Moved::kSome);
  EXPECT_TRUE(stage_.Holds());
  ASSERT_TRUE(os::WriteAll(writing_.get(), "two"));
  EXPECT_EQ(stage_.Fill(reading_.get()), Moved::kSome);
  EXPECT_EQ(Staged(), "one two");
  EXPECT_FALSE(stage_.Holds());
}

TEST_F(OutputStageTest, SeesTheEndOfThePipe) {
  ASSERT_TRUE(os::WriteAll(writing_.get(), "last"));
  writing_.Reset();
  EXPECT_EQ(stage_.Fill(reading_.get()), Moved::kSome);
  EXPECT_EQ(stage_.Fill(reading_.get()), Moved::kEnd);
  EXPECT_EQ(Staged(), "last");
}

TEST_F(OutputStageTest, TakesNoMoreThanItHolds) {
  ASSERT_GT(fcntl(writing_.get(), F_SETPIPE_SZ, 1 << 20), 0);
  const std::string much(MiB(1).value, 'x');
  std::size_t taken = 0;
  for (int i = 0; i < 3; ++i) {
    (void)!write(writing_.get(), much.data(), much.size());
    if (stage_.Fill(reading_.get()) == Moved::kSome) taken += much.size();
  }
  EXPECT_EQ(taken, much.size());
  EXPECT_EQ(Staged(), much);
}

TEST_F(OutputStageTest, IsTheSameForAnotherProcess) {
  ASSERT_TRUE(os::WriteAll(writing_.get(), "kept"));
  ASSERT_EQ(stage_.Fill(reading_.get()), Moved::kSome);
  const auto [reading, writing] = stage_.Ends();
  const OutputStage other{os::Fd(fcntl(reading, F_DUPFD_CLOEXEC, 0)), os::Fd(fcntl(writing, F_DUPFD_CLOEXEC, 0))};
  EXPECT_TRUE(other.Holds());
  EXPECT_EQ(Staged(), "kept");
  EXPECT_FALSE(other.Holds());
}

}  // namespace
}  // namespace caisson::sandbox
