#include "caisson/policy/preset.h"

#include <gtest/gtest.h>

#include "caisson/policy/policy_fixture.h"

namespace caisson::policy {
namespace {

TEST(Presets, AllLoadAndReadingTheirTextGivesAnEqualPolicy) {
  EXPECT_EQ(Policy::PresetNames().size(), 5U);
  for (const std::string_view name : Policy::PresetNames()) {
    const Policy preset = PresetOf(name);
    EXPECT_EQ(preset.name(), name);
    EXPECT_EQ(preset.allows_everything(), name == "open");
    const Policy read = PolicyOf(preset.text());
    EXPECT_EQ(read.digest(), preset.digest()) << name;
    for (const Rule& rule : preset.rules()) EXPECT_EQ(rule.source, "preset " + std::string(name));
  }
}

TEST(Presets, AreNamedWhenAnotherIsMeant) {
  const auto policy = Policy::Preset("strickt");
  ASSERT_FALSE(policy);
  EXPECT_EQ(policy.error().code(), Code::kInvalidArgument);
  EXPECT_EQ(policy.error().remediation(), "did you mean 'strict'?");
}

struct Row {
  const char* text;
  const char* standard;
  const char* minimal;
  const char* read_only;
  const char* strict;
};

constexpr Row kRows[] = {
    {"ls -la", "allow", "allow", "allow", "allow"},
    {"python3 -m pytest", "allow", "allow", "ask", "allow"},
    {"echo hi", "allow", "ask", "allow", "deny"},
    {"rm -rf build", "ask", "ask", "ask", "deny"},
    {"mkdir -p a && touch a/b", "allow", "ask", "ask", "deny"},
    {"gcc -o a a.c && ./a", "allow", "ask", "ask", "deny"},
    {"find . -name '*.py'", "allow", "ask", "allow", "deny"},
    {"find . -delete", "ask", "ask", "ask", "deny"},
    {"find . -exec cat {} +", "ask", "ask", "ask", "deny"},
    {"sort -u f", "allow", "ask", "allow", "deny"},
    {"sort --compress-program=./p f", "ask", "ask", "ask", "deny"},
    {"ls > out", "allow", "allow", "ask", "allow"},
    {"ls > /tmp/out", "allow", "allow", "allow", "allow"},
    {"ls > /etc/out", "ask", "ask", "ask", "deny"},
    {"ls 2>/dev/null", "allow", "allow", "allow", "allow"},
    {"cat < /etc/hostname", "allow", "allow", "allow", "allow"},
    {"./run_tests --quick", "allow", "ask", "ask", "deny"},
    {"cd build && ctest", "allow", "ask", "ask", "deny"},
    {"bash run.sh", "ask", "ask", "ask", "deny"},
    {"source venv/bin/activate", "ask", "ask", "ask", "deny"},
    {"ls; $x", "ask", "ask", "ask", "deny"},
    {"LD_PRELOAD=./x.so ls", "deny", "deny", "deny", "deny"},
};

TEST(Presets, DecideWhatTheyAreFor) {
  const Policy standard = PresetOf("standard");
  const Policy minimal = PresetOf("minimal");
  const Policy read_only = PresetOf("read_only");
  const Policy strict = PresetOf("strict");
  for (const Row& row : kRows) {
    EXPECT_EQ(EffectOf(standard, row.text), row.standard) << row.text << ": " << DecideText(standard, row.text).reason;
    EXPECT_EQ(EffectOf(minimal, row.text), row.minimal) << row.text;
    EXPECT_EQ(EffectOf(read_only, row.text), row.read_only) << row.text;
    EXPECT_EQ(EffectOf(strict, row.text), row.strict) << row.text;
    EXPECT_EQ(EffectOf(PresetOf("open"), row.text), "allow") << row.text;
  }
}

}  // namespace
}  // namespace caisson::policy
