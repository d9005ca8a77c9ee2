#include "caisson/wire/result_json.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <csignal>

namespace caisson::wire {
namespace {

using boost::json::object;

sandbox::CapturedOutput Captured(std::string kept, std::uint64_t total = 0) {
  sandbox::CapturedOutput output;
  output.total_bytes = total != 0 ? total : kept.size();
  output.truncated = output.total_bytes > kept.size();
  output.kept = std::move(kept);
  return output;
}

sandbox::CommandResult ResultOf(sandbox::Outcome outcome) {
  sandbox::CommandResult result;
  result.outcome = std::move(outcome);
  return result;
}

object Written(const sandbox::CommandResult& result) {
  const std::string text = ResultJson(SandboxId::Random(), result);
  EXPECT_EQ(text.find('\n'), text.size() - 1) << "one line";
  return boost::json::parse(text).as_object();
}

TEST(ResultJson, HasEveryFieldInOrder) {
  sandbox::CommandResult result = ResultOf(sandbox::Exited{1});
  result.out = Captured("caf\xC3\xA9\n");
  result.err = Captured("");
  result.duration = std::chrono::microseconds(12'400);
  result.cpu = std::chrono::nanoseconds(9'100'499);
  result.memory_peak_bytes = 8'421'376;
  const SandboxId id = SandboxId::Random();
  EXPECT_EQ(
      ResultJson(id, result),
      "{\"sandbox\":\"" + id.text() +
          "\",\"step\":1,\"tool\":\"run_command\",\"outcome\":\"exited\",\"exit_code\":1,\"signal\":null,"
          "\"stdout\":\"caf\xC3\xA9\\n\",\"stderr\":\"\",\"stdout_bytes\":6,\"stderr_bytes\":0,\"truncated\":[],"
          "\"encoding\":\"utf-8\",\"data\":null,\"duration_ms\":12.4,\"cpu_ms\":9.1,\"memory_peak_bytes\":8421376,"
          "\"files_changed\":null,\"files_changed_truncated\":false,\"checkpoint\":null,\"decision\":null,"
          "\"hints\":[],\"budget\":null}\n");
}

TEST(ResultJson, ListsHints) {
  const std::string text = ResultJson(SandboxId::Random(), ResultOf(sandbox::Exited{127}),
                                      {{"command_not_found", "`jq` is not here.", "Use another."}});
  EXPECT_NE(text.find("\"hints\":[{\"code\":\"command_not_found\",\"message\":\"`jq` is not here.\","
                      "\"suggestion\":\"Use another.\"}]"),
            std::string::npos)
      << text;
}

TEST(ResultJson, TellsOutcomesApart) {
  object signaled = Written(ResultOf(sandbox::Signaled{SIGKILL}));
  EXPECT_EQ(signaled["outcome"], "signaled");
  EXPECT_EQ(signaled["signal"], "SIGKILL");
  EXPECT_TRUE(signaled["exit_code"].is_null());
  EXPECT_TRUE(signaled["memory_peak_bytes"].is_null());

  const std::pair<sandbox::Outcome, const char*> others[] = {{sandbox::TimedOut{}, "timed_out"},
                                                             {sandbox::OutOfMemory{}, "out_of_memory"},
                                                             {sandbox::Cancelled{}, "cancelled"},
                                                             {sandbox::FailedToStart{}, "failed_to_start"}};
  for (const auto& [outcome, name] : others) {
    object written = Written(ResultOf(outcome));
    EXPECT_EQ(written["outcome"], name);
    EXPECT_TRUE(written["exit_code"].is_null());
    EXPECT_TRUE(written["signal"].is_null());
    EXPECT_EQ(written["stdout"], "");
  }
}

TEST(ResultJson, IsBase64WhenEitherStreamIsNotUtf8) {
  sandbox::CommandResult result = ResultOf(sandbox::Exited{0});
  result.out = Captured("text");
  result.err = Captured("\xFF\xFE");
  object written = Written(result);
  EXPECT_EQ(written["encoding"], "base64");
  EXPECT_EQ(written["stdout"], "dGV4dA==");
  EXPECT_EQ(written["stderr"], "//4=");
}

TEST(ResultJson, CutsATruncatedStreamAtABoundary) {
  sandbox::CommandResult result = ResultOf(sandbox::Exited{0});
  result.out = Captured("ab\xE2\x82", 900);
  result.err = Captured("all of it");
  object written = Written(result);
  EXPECT_EQ(written["encoding"], "utf-8");
  EXPECT_EQ(written["stdout"], "ab");
  EXPECT_EQ(written["stdout_bytes"], 900);
  EXPECT_EQ(written["truncated"], boost::json::array({"stdout"}));
}

TEST(ResultJson, DoesNotCutAStreamThatEndedSo) {
  sandbox::CommandResult result = ResultOf(sandbox::Exited{0});
  result.out = Captured("ab\xE2\x82");
  object written = Written(result);
  EXPECT_EQ(written["encoding"], "base64");
  EXPECT_EQ(written["stdout"], "YWLigg==");
}

TEST(ResultJson, KeepsControlCharactersAndZeros) {
  sandbox::CommandResult result = ResultOf(sandbox::Exited{0});
  const std::string text("a\0\x1B[0m\x7F\r\n\"\\", 11);
  result.out = Captured(text);
  object written = Written(result);
  EXPECT_EQ(written["encoding"], "utf-8");
  EXPECT_EQ(written["stdout"].as_string(), text);
}

}  // namespace
}  // namespace caisson::wire
