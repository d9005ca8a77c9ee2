#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace caisson::policy {

class Zone;

// deny beats ask beats allow beats the default, wherever the rules stand. An ask rule whose window, dates or uses do
// not hold denies what it covers: a wider rule that allows must not open what was to be asked for.
enum class Effect : std::uint8_t { kAllow, kAsk, kDeny };
std::string_view EffectName(Effect effect);  // "allow"

enum class Action : std::uint8_t {
  kFileRead,
  kFileWrite,  // creating too, and truncating
  kFileDelete,
  kProcessExec,
  kProcessSignal,
  kNetworkConnect,
  kSecretUse,
};
inline constexpr std::size_t kActionCount = 7;
std::string_view ActionName(Action action);  // "file.read"
std::optional<Action> ActionOf(std::string_view name);

// kKernel: the rule binds whatever a command does, or the policy is refused. kTool: it binds what a tool is asked for.
enum class Enforcement : std::uint8_t { kKernel, kTool };

// What becomes of commands that run when the time of the rule that lets them run is over.
enum class OnEnd : std::uint8_t { kFinish, kStop };

// An absolute path of the sandbox. kExact: that one. kBelow: "DIR/**", the folder itself and all below it. kGlob: with
// *, ? and ** elsewhere, for enforcement = "tool" only; * and ? stop at a slash.
struct PathPattern {
  enum class Kind : std::uint8_t { kExact, kBelow, kGlob } kind = Kind::kExact;
  std::string text;                           // as written; kBelow: without the "/**"
  bool Matches(std::string_view path) const;  // `path`: absolute, without "." and ".."; linear in both
};

// The first words of a command: "git push" matches `git push` and `git push origin main`. The first word is a name that
// is looked up in PATH, or an absolute path; "./**" is every program below the workspace. Of rules that ask or deny,
// options may stand between the words: "git push" also matches `git -C x push`.
struct CommandPattern {
  std::vector<std::string> words;
  bool is_workspace_programs = false;
  std::string text() const;
};

// Days of the week and hours of the day in a time zone. Hours may go over midnight ("22:00-06:00"): they then belong to
// the day on which they began. A local time that a change of the clocks leaves out or repeats counts as the clock
// shows.
struct Window {
  std::uint8_t days = 0x7f;  // bit 0: Monday
  std::chrono::minutes from{0};
  std::chrono::minutes to{24 * 60};   // not in it
  std::shared_ptr<const Zone> zone;   // shared by the rules of a policy; immutable
  std::string days_text, hours_text;  // as written; empty: every one
};

using Time = std::chrono::sys_time<std::chrono::milliseconds>;

struct Rule {
  std::string name;  // unique in its policy; "rule 3" when the file gives none
  Effect effect = Effect::kDeny;
  std::vector<Action> actions;
  std::vector<PathPattern> paths;        // of file.*
  std::vector<CommandPattern> commands;  // of process.exec
  std::vector<std::string> hosts;        // of network.connect: "HOST:PORT", "*.HOST:PORT", "HOST:*"
  std::vector<std::string> secrets;      // of secret.use: names
  // A command is matched only without any of the one and with all of the other. "-f" is also found in "-rf", "--force"
  // also as "--force=x" and as a beginning of it that getopt_long would take.
  std::vector<std::string> forbid_flags, require_flags;
  std::vector<std::string> helpers;  // programs that its commands start, beside the built-in table
  Enforcement enforcement = Enforcement::kKernel;
  std::optional<Window> when;
  std::optional<Time> not_before, expires_at;  // from, and until just before
  std::optional<std::uint32_t> max_uses;
  OnEnd on_end = OnEnd::kFinish;
  std::string reason;
  std::string source;  // "policy.toml:14", or "preset standard"
};

}  // namespace caisson::policy
