#include "caisson/cli/outcome_line.h"

#include <gtest/gtest.h>

#include <csignal>

namespace caisson::cli {
namespace {

TEST(OutcomeLine, SpeaksOnlyOfWhatIsNotTheCommandsOwnExit) {
  RunRequest request;
  request.argv = {"evil\x1B[0m"};
  EXPECT_EQ(OutcomeLine(sandbox::Exited{3}, request), "");
  EXPECT_EQ(OutcomeLine(sandbox::Signaled{SIGINT}, request), "");
  EXPECT_EQ(OutcomeLine(sandbox::Signaled{SIGSEGV}, request), "the command was ended by SIGSEGV");
  EXPECT_EQ(OutcomeLine(sandbox::TimedOut{}, request), "the command timed out after 30s");
  EXPECT_EQ(OutcomeLine(sandbox::OutOfMemory{}, request), "the command was ended at its memory limit of 2GiB");
  EXPECT_EQ(OutcomeLine(sandbox::Cancelled{}, request), "the command was cancelled");
  const sandbox::DecisionNote note{.effect = "deny", .rule = "r", .source = "p:1", .reason = "it ended"};
  EXPECT_EQ(OutcomeLine(sandbox::Cancelled{}, request, note), "the policy stopped it: it ended (rule r, p:1)");
  EXPECT_EQ(OutcomeLine(sandbox::Denied{}, request, note), "the policy refuses it: it ended (rule r, p:1)");
  const sandbox::FailedToStart not_found{sandbox::FailedToStart::Reason::kNotFound, ENOENT, "exec"};
  EXPECT_EQ(OutcomeLine(not_found, request), "the command 'evil\\x1b[0m' was not found in the sandbox");
}

TEST(ExitStatus, IsThatOfTheOutcome) {
  using Reason = sandbox::FailedToStart::Reason;
  EXPECT_EQ(sandbox::ExitStatus(sandbox::Exited{0}), 0);
  EXPECT_EQ(sandbox::ExitStatus(sandbox::Exited{42}), 42);
  EXPECT_EQ(sandbox::ExitStatus(sandbox::Signaled{SIGTERM}), 143);
  EXPECT_EQ(sandbox::ExitStatus(sandbox::TimedOut{}), 124);
  EXPECT_EQ(sandbox::ExitStatus(sandbox::OutOfMemory{}), 137);
  EXPECT_EQ(sandbox::ExitStatus(sandbox::Cancelled{}), 130);
  EXPECT_EQ(sandbox::ExitStatus(sandbox::FailedToStart{Reason::kNotFound, ENOENT, "exec"}), 127);
  EXPECT_EQ(sandbox::ExitStatus(sandbox::FailedToStart{Reason::kNotExecutable, EACCES, "exec"}), 126);
  EXPECT_EQ(sandbox::ExitStatus(sandbox::FailedToStart{Reason::kOther, EIO, "chdir"}), 125);
}

}  // namespace
}  // namespace caisson::cli
