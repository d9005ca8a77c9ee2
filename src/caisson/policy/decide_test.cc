#include "caisson/policy/decide.h"

#include <gtest/gtest.h>

#include "caisson/policy/policy_fixture.h"

namespace caisson::policy {
namespace {

TEST(DecideCommand, TakesTheStrictestOfATextAndOfItsRules) {
  constexpr Row kRows[] = {
      {"", "allow"},
      {"ls", "allow"},
      {"ls | grep x && cat y", "allow"},
      {"ls; rm x", "deny"},
      {"git status", "allow"},
      {"git push", "ask"},
      {"git push; rm x", "deny"},
      {"ls; git push origin main", "ask"},
      {"git -C dir push", "ask"},
      {"git --no-pager -c a=b push", "ask"},
      {"git -C push log", "ask"},  // -C may take no value, as far as anyone knows
      {"git log push", "allow"},
      {"git commit -m push", "allow"},
      {"git $x", "ask"},
      {"git -c alias.p=push p", "ask"},
      {"git -c ALIAS.p=push p", "ask"},
      {"git --config-env=alias.p=X p", "ask"},
      {"git", "allow"},
      {"/usr/bin/git push", "ask"},
      {"/bin/rm x", "deny"},
      {"nosuch", "deny"},
      {"if ls; then cat x; else grep y z; fi", "allow"},
      {"for f in a b; do cat $f; done", "allow"},
      {"f() { rm x; }; f", "deny"},
      {"f() { ls; }; f", "allow"},
      {"rm() { ls; }; unset -f rm; rm x", "deny"},
      {"rm() { ls; }; eval 'unset -f rm'; rm x", "deny"},
  };
  CheckRows(PolicyOf(kList), kRows);
}

TEST(DecideCommand, JudgesFilesThatAreRedirectedTo) {
  constexpr Row kRows[] = {
      {"ls > out", "allow"},
      {"ls >> sub/out 2>&1", "allow"},
      {"ls > ../x", "deny"},
      {"ls > /etc/x", "deny"},
      {"cat < in", "allow"},
      {"cat < /etc/passwd", "deny"},
      {"cat <> in", "allow"},
      {"ls > /home/agent/workspace/../../x", "deny"},
      {"ls > /dev/null 2> /dev/stderr < /dev/stdin", "allow"},
      {"ls > /dev/fd/3", "allow"},
      {"ls > /dev/sda", "deny"},
      {"ls > /dev/fd/../sda", "deny"},
      {"cat < /dev/tcp/evil/80", "deny"},
      {"ls > \"$x\"", "allow"},  // the kernel decides
      {"cd sub; ls > out", "allow"},
      {"cd /; ls > etc/x", "allow"},  // the kernel decides
      {"cd sub; ls > /etc/x", "deny"},
      {"> out", "allow"},
      {"> /etc/x", "deny"},
      {"cat <<< x", "allow"},
  };
  CheckRows(PolicyOf(kList), kRows);
  CommandCall call;
  call.text = "ls > x";
  call.cwd = "/etc";
  const Decision decision = DecideCommand(PolicyOf(kList), call, {});
  EXPECT_EQ(decision.effect, Effect::kDeny);
  EXPECT_NE(decision.reason.find("write /etc/x"), std::string::npos) << decision.reason;
  EXPECT_NE(decision.alternative.find("/home/agent/workspace"), std::string::npos) << decision.alternative;
}

TEST(DecideCommand, JudgesWordsWithoutAShell) {
  const Policy policy = PolicyOf(kList);
  const auto decide = [&policy](std::vector<std::string> argv) {
    CommandCall call;
    call.argv = std::move(argv);
    return std::string(EffectName(DecideCommand(policy, call, {}).effect));
  };
  EXPECT_EQ(decide({"ls", "; rm x"}), "allow");
  EXPECT_EQ(decide({"rm", "x"}), "deny");
  EXPECT_EQ(decide({"git", "push"}), "ask");
  EXPECT_EQ(decide({"sh", "-c", "rm x"}), "deny");
  EXPECT_EQ(decide({"cd"}), "deny");  // no shell, no builtin
  EXPECT_EQ(decide({""}), "deny");
  EXPECT_EQ(decide({"env", "A=b", "ls"}), "allow");
}

TEST(DecideCommand, TakesFlagsIntoAccount) {
  const Policy policy = PolicyOf(R"(
version = 1
[[rule]]
effect = "allow"
commands = ["cp", "make"]
forbid_flags = ["-f", "--force"]
[[rule]]
effect = "allow"
commands = ["tar"]
require_flags = ["-t"]
[[rule]]
name = "loud"
effect = "deny"
commands = ["make"]
require_flags = ["--loud"]
)");
  constexpr Row kRows[] = {
      {"cp a b", "allow"},    {"cp -f a b", "deny"},   {"cp -rf a b", "deny"}, {"cp --forc a b", "deny"},
      {"cp $x b", "deny"},    {"cp 'a b' c", "allow"}, {"tar -t f", "allow"},  {"tar -xf f", "deny"},
      {"tar -tf f", "allow"}, {"tar $x", "deny"},      {"make all", "allow"},  {"make --loud", "deny"},
      {"make --lou", "deny"}, {"make all/$x", "deny"},
  };
  CheckRows(policy, kRows);
  const Decision decision = DecideText(policy, "cp -rf a b");
  ASSERT_EQ(decision.findings.size(), 2U);
  EXPECT_FALSE(decision.findings[0].counts);
  EXPECT_EQ(decision.findings[0].why, "not with -f");
}

TEST(DecideCommand, AsksOrDeniesWhatIsUnknown) {
  const Decision asked = DecideText(PresetOf("minimal"), "ls; $x y");
  EXPECT_EQ(asked.effect, Effect::kAsk);
  EXPECT_EQ(asked.rule, "unknown_shell");
  EXPECT_FALSE(asked.alternative.empty());
  EXPECT_EQ(DecideText(PresetOf("strict"), "ls; $x y").effect, Effect::kDeny);
  EXPECT_EQ(DecideText(PresetOf("open"), "ls; $x y").effect, Effect::kAllow);
  EXPECT_EQ(DecideText(PresetOf("strict"), "ls 'unfinished").rule, "unknown_shell");
  // What is denied for sure beats what is only asked for.
  const Policy policy = PolicyOf("version = 1\ndefault = \"ask\"\n[[rule]]\neffect = \"deny\"\ncommands = [\"rm\"]\n");
  EXPECT_EQ(DecideText(policy, "rm x; $y").effect, Effect::kDeny);
}

TEST(DecideCommand, SaysWhyAndWhatElse) {
  const Policy strict = PresetOf("strict");
  const Decision rm = DecideText(strict, "rm -rf build");
  EXPECT_EQ(rm.reason, "`rm -rf build`: no rule allows it");
  EXPECT_EQ(rm.rule, "default");
  EXPECT_EQ(rm.source, "preset strict");
  EXPECT_NE(rm.alternative.find("shutil.rmtree"), std::string::npos);
  EXPECT_NE(rm.alternative.find("ls, cat, grep, python3, pip, git, make"), std::string::npos);
  const Decision denied = DecideText(PolicyOf(kList), "rm x");
  EXPECT_EQ(denied.reason, "`rm x`: the rule 'no-rm' denies it: use the trash");
  EXPECT_EQ(denied.source, "policy.toml:9");
  const Decision allowed = DecideText(strict, "git status");
  EXPECT_EQ(allowed.rule, "toolchain");
  EXPECT_EQ(allowed.source, "preset strict");
  EXPECT_EQ(DecideText(strict, "cd x").rule, "shell");
  const Decision odd = DecideText(strict, "'x\x1b[31m\n'");
  EXPECT_EQ(odd.reason.find('\x1b'), std::string::npos);
}

TEST(DecideCommand, StaysBounded) {
  const Policy strict = PresetOf("strict");
  std::string text;
  for (int i = 0; i < 9000; ++i) text += "ls;";
  const Decision many = DecideText(strict, text);
  EXPECT_EQ(many.effect, Effect::kAllow);
  EXPECT_EQ(many.findings.size(), kMostFindings);
  EXPECT_EQ(EffectOf(strict, text + "touch x"), "deny");
  EXPECT_EQ(EffectOf(strict, "ls " + std::string(2 << 20, 'x')), "deny");
  EXPECT_LT(DecideText(strict, std::string(100'000, 'x')).reason.size(), 1000U);
}

TEST(DecideFile, TakesTheRulesOfItsActionAndPath) {
  const Policy policy = PolicyOf(R"(
version = 1
default = "ask"
[[rule]]
effect = "allow"
actions = ["file.read", "file.write"]
paths = ["/w/**", "/one"]
[[rule]]
name = "secret"
effect = "deny"
actions = ["file.read"]
paths = ["/w/**/*.pem"]
enforcement = "tool"
)");
  const auto effect = [&policy](Action action, std::string_view path) {
    return std::string(EffectName(DecideFile(policy, action, path, {}).effect));
  };
  EXPECT_EQ(effect(Action::kFileRead, "/w/a"), "allow");
  EXPECT_EQ(effect(Action::kFileRead, "/w"), "allow");
  EXPECT_EQ(effect(Action::kFileRead, "/one"), "allow");
  EXPECT_EQ(effect(Action::kFileRead, "/one/x"), "ask");
  EXPECT_EQ(effect(Action::kFileDelete, "/w/a"), "ask");
  EXPECT_EQ(effect(Action::kFileRead, "/w/x/k.pem"), "deny");
  EXPECT_EQ(effect(Action::kFileWrite, "/w/x/k.pem"), "allow");
  EXPECT_EQ(effect(Action::kFileRead, "/wx"), "ask");
  EXPECT_EQ(DecideFile(policy, Action::kFileRead, "/w/k.pem", {}).rule, "secret");
}

TEST(DecideOther, TakesHostsSecretsAndSignals) {
  const Policy policy = PolicyOf(R"(
version = 1
[[rule]]
effect = "allow"
actions = ["network.connect"]
hosts = ["*.example.org:443"]
[[rule]]
effect = "ask"
actions = ["secret.use"]
secrets = ["TOKEN"]
[[rule]]
effect = "allow"
actions = ["process.signal"]
)");
  EXPECT_EQ(DecideOther(policy, Action::kNetworkConnect, "a.example.org:443", {}).effect, Effect::kAllow);
  EXPECT_EQ(DecideOther(policy, Action::kNetworkConnect, "a.example.org:80", {}).effect, Effect::kDeny);
  EXPECT_EQ(DecideOther(policy, Action::kSecretUse, "TOKEN", {}).effect, Effect::kAsk);
  EXPECT_EQ(DecideOther(policy, Action::kSecretUse, "token", {}).effect, Effect::kDeny);
  EXPECT_EQ(DecideOther(policy, Action::kProcessSignal, "", {}).effect, Effect::kAllow);
}

}  // namespace
}  // namespace caisson::policy
