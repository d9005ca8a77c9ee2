#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caisson/policy/policy.h"
#include "caisson/shell/shell.h"

namespace caisson::policy {

// What a command would be started with. Of `text` and `argv` one is set; a text is for bash.
struct CommandCall {
  std::optional<std::string> text;
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> env;  // what the caller adds; its names are judged too
  std::string cwd = "/home/agent/workspace";             // absolute
};

// What a decision needs to know beside the policy. Everything here is asked for, nothing is done.
struct Situation {
  Time now{};
  // How often a rule of the policy was used so far; absent: never.
  std::function<std::uint32_t(const Rule&)> uses;
  // Where a path with a slash leads in the sandbox when its links are followed: absolute; absent: there is nothing.
  // Absent function: there is no sandbox to look into.
  std::function<std::optional<std::string>(const std::string& absolute_path)> resolve;
};

// One rule that had to do with a call, and why it counted or not.
struct Finding {
  std::string subject;  // "git push origin main", "write /etc/x", "the variable LD_PRELOAD"
  std::string rule;     // empty: none matched; or a built-in one, as in Decision
  std::string source;
  Effect effect = Effect::kDeny;
  bool counts = true;  // false: it would match, but not now, not any more, or not with these flags: `why` says so
  std::string why;
};

// When the time of a rule with on_end = "stop" is over, and with it that of what rests on it.
struct Stop {
  Time at{};
  const Rule* rule = nullptr;  // of the policy
};

struct Decision {
  Effect effect = Effect::kDeny;
  // The one that decided; "default", or a built-in: "unknown_shell" (what the text starts cannot be told),
  // "environment" (a variable), "shell" (there are only builtins that steer).
  std::string rule;
  std::string source;       // "policy.toml:14", "preset strict", "built in"
  std::string reason;       // in words, for the agent
  std::string alternative;  // the allowed way, when there is one to name; may be empty
  // Those that lend what they allow to this call alone, each as often as the call rests on it, in the order of the
  // call: with max_uses, which are used up when it is let run, or with on_end = "stop". Of the policy.
  std::vector<const Rule*> lent;
  std::optional<Stop> stop;       // set: a call that is let run has to end then
  std::vector<Finding> findings;  // at most kMostFindings
};
inline constexpr std::size_t kMostFindings = 1000;

// Pure and bounded. A call is allowed when every command it may start, every variable it sets and every file that it
// redirects to is; the strictest decides. What is not known before it runs is asked for where the default asks, and
// denied otherwise; only a policy that allows everything lets it pass. Of a relative redirection after a `cd` nothing
// is said: the kernel decides. Time: in proportion to the text and the rules that begin with its words.
Decision DecideCommand(const Policy& policy, const CommandCall& call, const Situation& situation);
// `path`: absolute, without "." and "..".
Decision DecideFile(const Policy& policy, Action action, std::string_view path, const Situation& situation);
// `what`: "HOST:PORT" of network.connect, a name of secret.use, empty of process.signal.
Decision DecideOther(const Policy& policy, Action action, std::string_view what, const Situation& situation);

// Whether a rule holds now: its window, its dates, its uses. When not, why.
std::optional<std::string> WhyNotNow(const Rule& rule, const Situation& situation);
// When a rule with on_end = "stop" that holds now ceases to hold by the clock; absent: it stops nothing.
std::optional<Time> StopOf(const Rule& rule, Time now);
// The first such moment of the rules about files that hold now. What they allow every command may do that starts under
// them, so it ends every one; absent: none does.
std::optional<Stop> StopOfFiles(const Policy& policy, Time now);
// The next moment after `now` at which a rule begins or ceases to hold by the clock; absent: never.
std::optional<Time> NextChange(const Policy& policy, Time now);

}  // namespace caisson::policy
