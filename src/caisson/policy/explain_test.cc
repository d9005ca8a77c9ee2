#include "caisson/policy/explain.h"

#include <gtest/gtest.h>

#include "caisson/policy/policy_fixture.h"

namespace caisson::policy {
namespace {

bool Says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Explain, SaysWhatDecidedAndWhatElse) {
  const Policy strict = PresetOf("strict");
  const std::string text = Explain(strict, DecideText(strict, "ls; rm x"));
  EXPECT_TRUE(text.starts_with("deny by 'default' (preset strict)\n`rm x`: no rule allows it\ninstead: delete with"))
      << text;
  EXPECT_TRUE(Says(text, "  ls: allow by 'toolchain' (preset strict)\n")) << text;
  EXPECT_TRUE(Says(text, "  rm x: deny by default (preset strict): no rule is about it\n")) << text;
  EXPECT_TRUE(Says(text, "  'toolchain' binds in the kernel\n")) << text;
  EXPECT_FALSE(Says(text, "know:")) << text;
}

TEST(Explain, SaysWhatAnAllowedCallMayDo) {
  const Policy standard = PresetOf("standard");
  const std::string text = Explain(standard, DecideText(standard, "python3 x.py"));
  EXPECT_TRUE(Says(text, "Python, may delete what file.delete allows")) << text;
  EXPECT_TRUE(Says(text, "run under another name")) << text;
  const Policy writes = PolicyOf(
      "version = 1\n[[rule]]\neffect = \"allow\"\nactions = [\"file.write\"]\npaths = [\"/w/**\"]\n"
      "[[rule]]\neffect = \"allow\"\ncommands = [\"ls\"]\n");
  EXPECT_TRUE(Says(Explain(writes, DecideText(writes, "ls")), "lets a file be emptied"));
}

TEST(Explain, SaysWhenItIsStopped) {
  const Policy policy = PolicyOf(
      "version = 1\n[[rule]]\nname = 'day'\neffect = 'allow'\ncommands = ['ls']\nexpires_at = 2030-01-01T00:00:00Z\n"
      "on_end = 'stop'\n");
  const std::string text = Explain(policy, DecideText(policy, "ls"));
  EXPECT_TRUE(Says(text, "it is stopped at 2030-01-01T00:00:00Z, when the time of 'day' is over\n")) << text;
  EXPECT_TRUE(Says(text, "'day' binds in the kernel; what rests on it is stopped when its time is over\n")) << text;
}

TEST(Explain, SaysHowFarRulesBind) {
  const Policy policy = PolicyOf(R"(
version = 1
[[rule]]
name = "words"
effect = "allow"
commands = ["git status"]
[[rule]]
name = "flags"
effect = "allow"
commands = ["find"]
forbid_flags = ["-delete"]
[[rule]]
name = "tool"
effect = "allow"
commands = ["ls"]
enforcement = "tool"
)");
  const std::string text = Explain(policy, DecideText(policy, "git status; find . ; find -delete; ls"));
  EXPECT_TRUE(Says(text, "'words' binds in the kernel as far as the program goes")) << text;
  EXPECT_TRUE(Says(text, "'flags' binds in the kernel as far as the program goes")) << text;
  EXPECT_TRUE(Says(text, "'tool' binds only at the tool")) << text;
  EXPECT_TRUE(Says(text, "find -delete: allow, but it does not count by 'flags' (policy.toml:7): not with -delete"))
      << text;
}

TEST(Explain, HasNoControlCharacters) {
  const Policy strict = PresetOf("strict");
  for (const char c : Explain(strict, DecideText(strict, "'x\x1b[31m' a\x07; ls"))) {
    EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ');
  }
}

}  // namespace
}  // namespace caisson::policy
