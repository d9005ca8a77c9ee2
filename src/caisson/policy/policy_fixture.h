#pragma once

#include <gtest/gtest.h>

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "caisson/policy/decide.h"
#include "caisson/policy/policy.h"
#include "caisson/policy/zone.h"

namespace caisson::policy {

// A policy that must load.
inline Policy PolicyOf(std::string_view text, document::Format format = document::Format::kToml) {
  auto policy = Policy::Read(text, format, "policy.toml", SystemZones());
  if (!policy) {
    ADD_FAILURE() << policy.error().message() << ": " << policy.error().cause();
    return *Policy::Preset("open");
  }
  return *std::move(policy);
}

inline Policy PresetOf(std::string_view name) {
  auto policy = Policy::Preset(name);
  if (!policy) {
    ADD_FAILURE() << policy.error().message() << ": " << policy.error().cause();
    return *Policy::Preset("open");
  }
  return *std::move(policy);
}

// Links of a sandbox, and what else is there.
using Tree = std::map<std::string, std::string>;

inline Situation InTree(Tree tree) {
  Situation situation;
  situation.resolve = [tree = std::move(tree)](const std::string& path) -> std::optional<std::string> {
    const auto found = tree.find(path);
    if (found == tree.end()) return std::nullopt;
    return found->second;
  };
  return situation;
}

inline Decision DecideText(const Policy& policy, std::string_view text, const Situation& situation = {}) {
  CommandCall call;
  call.text = std::string(text);
  return DecideCommand(policy, call, situation);
}

inline std::string EffectOf(const Policy& policy, std::string_view text, const Situation& situation = {}) {
  return std::string(EffectName(DecideText(policy, text, situation).effect));
}

struct Row {
  const char* text;
  const char* effect;
};

// A policy that allows some wrappers, denies rm and asks for a push, and denies what it does not name.
inline constexpr std::string_view kList = R"(
version = 1
default = "deny"
[[rule]]
name = "tools"
effect = "allow"
commands = ["ls", "cat", "grep", "python3", "git", "echo", "printf", "test", "env", "timeout", "nice", "xargs", "find",
            "sh", "bash", "sudo", "watch", "flock", "busybox", "time", "setsid", "stdbuf", "chroot", "kill"]
[[rule]]
name = "no-rm"
effect = "deny"
commands = ["rm"]
reason = "use the trash"
[[rule]]
name = "publish"
effect = "ask"
commands = ["git push"]
[[rule]]
effect = "allow"
actions = ["file.read", "file.write"]
paths = ["/home/agent/workspace/**"]
)";

inline void CheckRows(const Policy& policy, std::span<const Row> rows, const Situation& situation = {}) {
  for (const Row& row : rows) {
    const Decision decision = DecideText(policy, row.text, situation);
    EXPECT_EQ(EffectName(decision.effect), row.effect) << row.text << ": " << decision.reason;
  }
}

}  // namespace caisson::policy
