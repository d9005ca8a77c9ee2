#include "caisson/sandbox/outcome.h"

#include <gtest/gtest.h>

namespace caisson::sandbox {
namespace {

using Reason = FailedToStart::Reason;

TEST(OutcomeName, IsStable) {
  EXPECT_EQ(OutcomeName(Exited{0}), "exited");
  EXPECT_EQ(OutcomeName(Signaled{9}), "signaled");
  EXPECT_EQ(OutcomeName(TimedOut{}), "timed_out");
  EXPECT_EQ(OutcomeName(OutOfMemory{}), "out_of_memory");
  EXPECT_EQ(OutcomeName(Cancelled{}), "cancelled");
  EXPECT_EQ(OutcomeName(FailedToStart{}), "failed_to_start");
}

TEST(ExitStatus, IsTheCommandsOwn) {
  for (const int code : {0, 1, 42, 124, 125, 126, 127, 130, 255}) EXPECT_EQ(ExitStatus(Exited{code}), code);
}

TEST(ExitStatus, TellsWhatHappenedOtherwise) {
  EXPECT_EQ(ExitStatus(Signaled{2}), 130);
  EXPECT_EQ(ExitStatus(Signaled{9}), 137);
  EXPECT_EQ(ExitStatus(Signaled{64}), 192);
  EXPECT_EQ(ExitStatus(TimedOut{}), 124);
  EXPECT_EQ(ExitStatus(OutOfMemory{}), 137);
  EXPECT_EQ(ExitStatus(Cancelled{}), 130);
  EXPECT_EQ(ExitStatus(FailedToStart{Reason::kNotFound, 0, "exec"}), 127);
  EXPECT_EQ(ExitStatus(FailedToStart{Reason::kNotExecutable, 0, "exec"}), 126);
  EXPECT_EQ(ExitStatus(FailedToStart{Reason::kOther, 0, "chdir"}), 125);
}

}  // namespace
}  // namespace caisson::sandbox
