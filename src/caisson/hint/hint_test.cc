#include "caisson/hint/hint.h"

#include <gtest/gtest.h>

#include "caisson/hint/ended_command.h"

namespace caisson::hint {
namespace {

using Codes = std::vector<std::string>;

Codes CodesOf(const EndedCommand& ended) {
  Codes codes;
  for (const Hint& hint : FindHints(ended.evidence())) {
    EXPECT_TRUE(!hint.message.empty() && hint.message.ends_with('.')) << hint.code << ": " << hint.message;
    EXPECT_TRUE(!hint.suggestion.empty() && hint.suggestion.ends_with('.')) << hint.code << ": " << hint.suggestion;
    codes.push_back(hint.code);
  }
  return codes;
}

TEST(FindHints, HasNoneForWhatWentWell) {
  EXPECT_EQ(CodesOf({sandbox::Exited{0}, "", "fine\n"}), Codes());
  EXPECT_EQ(CodesOf({sandbox::Exited{0}, "warning: cat: /x: Permission denied\n", "command not found\n"}), Codes());
  EXPECT_EQ(CodesOf(ThatFailed("assertion failed\n")), Codes());
}

TEST(FindHints, PutsTheCauseFirst) {
  EndedCommand ended(sandbox::TimedOut{}, "curl: (6) Could not resolve host: x\nsh: 1: jq: not found\n", "\xFF");
  ended.result.out.truncated = true;
  EXPECT_EQ(CodesOf(ended),
            (Codes{"command_not_found", "network_blocked", "timed_out", "output_truncated", "non_utf8_output"}));
}

TEST(FindHints, HasOneOfEachCode) {
  EndedCommand ended(sandbox::OutOfMemory{},
                     "ModuleNotFoundError: No module named 'x'\n/x: /y: Permission denied\n"
                     "a: b: Read-only file system\nc: No space left on device\n");
  ended.result.hit_process_limit = true;
  EXPECT_EQ(CodesOf(ended), (Codes{"missing_python_module", "out_of_memory", "disk_full", "too_many_processes",
                                   "read_only_path", "permission_denied"}));
  EndedCommand waiting(sandbox::TimedOut{}, "");
  waiting.result.waits_for_input = true;
  EXPECT_EQ(CodesOf(waiting), Codes{"timed_out_waiting_for_input"});
  EndedCommand silent(sandbox::Exited{0}, "");
  silent.command.argv = {"cat", "x"};
  EXPECT_EQ(CodesOf(silent), Codes{"empty_output"});
}

TEST(FindHints, StaysSmallWhateverTheCommandWrote) {
  std::string hostile;
  while (hostile.size() < (4U << 20U)) hostile += "\x1B]0;x: y" + std::string(300, '\'') + ": Permission denied\n";
  EndedCommand ended = ThatFailed(hostile);
  for (const Hint& hint : FindHints(ended.evidence())) {
    EXPECT_LT(hint.message.size() + hint.suggestion.size(), 1000U);
    EXPECT_EQ(hint.message.find('\x1B'), std::string::npos);
  }
  EXPECT_EQ(CodesOf(ended), Codes{"permission_denied"});
  EXPECT_EQ(CodesOf(ThatFailed(std::string(4U << 20U, '\n'))), Codes());
}

}  // namespace
}  // namespace caisson::hint
