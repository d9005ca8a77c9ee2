#include "caisson/backend/launch_error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace caisson::backend {
namespace {

using plan::Step;

plan::LaunchReply MakeReply(Step step, int error, std::string_view message = "") {
  plan::LaunchReply reply;
  reply.failed_step = step;
  reply.error = error;
  message.copy(reply.message, sizeof reply.message - 1);
  return reply;
}

std::string DetailOf(const Error& error, std::string_view wanted) {
  for (const auto& [key, value] : error.details()) {
    if (key == wanted) return value;
  }
  return "";
}

TEST(ExplainFailure, NamesAPrimitiveAndARemedyForEveryStep) {
  for (std::uint32_t step = 0; step <= static_cast<std::uint32_t>(Step::kLeaf); ++step) {
    const Error error = ExplainFailure(MakeReply(static_cast<Step>(step), EPERM));
    EXPECT_FALSE(error.message().empty()) << step;
    EXPECT_FALSE(error.cause().empty()) << step;
    EXPECT_FALSE(error.remediation().empty()) << step;
    EXPECT_FALSE(DetailOf(error, "primitive").empty()) << step;
    EXPECT_NE(error.message().find(DetailOf(error, "primitive")), std::string::npos) << step;
    EXPECT_EQ(DetailOf(error, "step"), std::to_string(step));
    EXPECT_EQ(DetailOf(error, "primitive") == "a step of the launcher", step == 0) << step;
  }
}

TEST(ExplainFailure, TakesAStepItDoesNotKnow) {
  const Error error = ExplainFailure(MakeReply(static_cast<Step>(4711), EPERM));
  EXPECT_FALSE(error.remediation().empty());
  EXPECT_EQ(DetailOf(error, "step"), "4711");
}

TEST(ExplainFailure, TellsTheLaunchersMessageAndTheErrno) {
  const Error error = ExplainFailure(MakeReply(Step::kClone, EPERM, "cannot clone"));
  EXPECT_EQ(error.cause().find("cannot clone: "), 0U) << error.cause();
  EXPECT_NE(error.cause().find(std::strerror(EPERM)), std::string::npos) << error.cause();
  EXPECT_EQ(ExplainFailure(MakeReply(Step::kClone, EPERM)).cause().find(": "), std::string::npos);
}

TEST(ExplainFailure, TakesTheLongestMessage) {
  const std::string message(sizeof plan::LaunchReply::message - 1, 'm');
  EXPECT_EQ(ExplainFailure(MakeReply(Step::kClone, EPERM, message)).cause().find(message + ": "), 0U);
}

TEST(ExplainFailure, TellsATicketThatNobodyLeftAFolderFor) {
  for (const Step step : {Step::kImage, Step::kWorkspace}) {
    const Error error = ExplainFailure(MakeReply(step, ENOKEY));
    EXPECT_EQ(error.code(), Code::kNotFound);
    EXPECT_NE(error.cause().find("ticket"), std::string::npos) << error.cause();
    EXPECT_EQ(ExplainFailure(MakeReply(step, ENOENT)).code(), Code::kUnsupported);
  }
}

TEST(ExplainFailure, TellsAShortageFromAHostThatCannot) {
  for (const int shortage : {EMFILE, ENFILE, ENOMEM, EAGAIN, ENOSPC, ENOBUFS, ENOLCK}) {
    EXPECT_EQ(ExplainFailure(MakeReply(Step::kClone, shortage)).code(), Code::kResourceExhausted) << shortage;
  }
  for (const int lack : {EPERM, EACCES, EINVAL, ENOSYS, EOPNOTSUPP, ENODEV, EROFS}) {
    EXPECT_EQ(ExplainFailure(MakeReply(Step::kClone, lack)).code(), Code::kUnsupported) << lack;
  }
  EXPECT_EQ(ExplainFailure(MakeReply(Step::kWritableLayer, EIO)).code(), Code::kInternal);
}

TEST(ExplainFailure, GivesStepsOfOnePrimitiveTheSameName) {
  const auto primitive = [](Step step) { return DetailOf(ExplainFailure(MakeReply(step, EPERM)), "primitive"); };
  EXPECT_EQ(primitive(Step::kUserNamespace), primitive(Step::kIdMaps));
  EXPECT_EQ(primitive(Step::kCgroup), primitive(Step::kLeaf));
  EXPECT_NE(primitive(Step::kUserNamespace), primitive(Step::kNetworkNamespace));
  EXPECT_NE(primitive(Step::kWorkspace), primitive(Step::kWorkspaceIdMap));
}

}  // namespace
}  // namespace caisson::backend
