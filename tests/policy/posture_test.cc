#include <gtest/gtest.h>

#include <algorithm>

#include "policy/policy_test.h"

// The first command of a plan enters its rules itself, those that follow are cloned under them: both are the same else.

namespace caisson::support {
namespace {

class PolicyPosture : public PolicyTest {
 protected:
  void SetUp() override {
    PolicyTest::SetUp();
    if (!IsSkipped()) UsePreset("standard");
  }
  // Numbers of processes and cgroups differ from one command to the next.
  std::string Look(const std::string& text, bool keeps_digits = true) {
    const Answer answer = Ask(text);
    EXPECT_EQ(answer.exit_code(), 0) << answer.text();
    std::string said = answer.result ? answer.result->out.kept : "";
    if (!keeps_digits) std::erase_if(said, [](char c) { return c >= '0' && c <= '9'; });
    return said;
  }
};

TEST_F(PolicyPosture, IsThatOfTheFirstCommand) {
  constexpr const char* kStatus =
      "grep -E '^(Uid|Gid|Groups|NStgid|SigBlk|SigIgn|SigCgt|Cap|NoNewPrivs|Seccomp|Threads)' /proc/self/status | "
      "grep -v NStgid; cat /proc/self/oom_score_adj /proc/self/limits; pwd; ulimit -a; umask";
  constexpr const char* kPlace = "cat /proc/self/cgroup /proc/self/mountinfo; ls -l /proc/self/fd; ls -l /proc/self/ns";
  const std::string first = Look(kStatus);
  EXPECT_NE(first.find("NoNewPrivs:\t1"), std::string::npos) << first;
  EXPECT_NE(first.find("Seccomp:\t2"), std::string::npos) << first;
  const std::string place = Look(kPlace, false);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Look(kStatus), first);
    EXPECT_EQ(Look(kPlace, false), place);
  }
}

TEST_F(PolicyPosture, AFailureToStartIsToldTheSame) {
  for (int i = 0; i < 3; ++i) {
    const Answer missing = Ask("true", {}, "/home/agent/missing");
    ASSERT_TRUE(missing.result) << missing.text();
    const auto* failed = std::get_if<sandbox::FailedToStart>(&missing.result->outcome);
    ASSERT_NE(failed, nullptr);
    EXPECT_EQ(failed->step, "chdir");
    EXPECT_EQ(failed->errno_value, ENOENT);
  }
}

TEST_F(PolicyPosture, WhatALaterCommandLeavesGoesOnWithoutIt) {
  for (int i = 0; i < 3; ++i) {
    const std::string file = "left" + std::to_string(i);
    const Answer answer = Ask("(sleep 0.3; echo x > " + file + ") > /dev/null 2>&1 &");
    EXPECT_EQ(answer.exit_code(), 0) << answer.text();
  }
  EXPECT_EQ(Look("while ! test -e left2; do sleep 0.05; done; cat left2"), "x\n");
}

}  // namespace
}  // namespace caisson::support
