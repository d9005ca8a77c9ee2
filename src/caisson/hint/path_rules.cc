#include <cerrno>
#include <string>
#include <string_view>
#include <variant>

#include "caisson/hint/complaints.h"
#include "caisson/hint/rules.h"

// Paths and acts that are refused.

namespace caisson::hint {
namespace {

using sandbox::FailedToStart;

constexpr const char* kWritable = "/home/agent/workspace or /tmp";

struct Refusal {
  std::string_view subject;  // empty: the line names none
  bool is_permitted_to_nobody = false;
};

std::optional<Refusal> DeniedIn(std::string_view line) {
  // What ssh(1) says of keys is no matter of files.
  if (line.find("(publickey") != std::string_view::npos) return std::nullopt;
  if (const auto phrase = FindPhrase(line, {"Permission denied"})) return Refusal{SubjectOf(line, *phrase), false};
  if (const auto phrase = FindPhrase(line, {"Operation not permitted"})) return Refusal{SubjectOf(line, *phrase), true};
  return std::nullopt;
}

std::optional<std::string_view> ReadOnlyIn(std::string_view line) {
  const auto phrase = FindPhrase(line, {"Read-only file system"});
  if (!phrase) return std::nullopt;
  return SubjectOf(line, *phrase);
}

Hint NotExecutableHint(std::string_view program) {
  return {.code = "permission_denied",
          .message = Named(program) + " is not executable.",
          .suggestion =
              "Make it executable with `chmod +x`, or start it by its interpreter, for example with `sh` or "
              "`python3` before its name."};
}

Hint NotNamedHint(std::string_view program) {
  return {.code = "permission_denied",
          .message = Named(program) + " may not be run: it is not executable, or no program that the policy names.",
          .suggestion =
              "Use a program that the policy names; a script is started by its interpreter, for example `python3`."};
}

// A rule of a policy let the command run, which then has only what rules allow.
bool IsHeld(const Evidence& evidence) {
  return evidence.result.decision && evidence.result.decision->rule != "default";
}

}  // namespace

std::optional<Hint> PermissionDenied(const Evidence& evidence) {
  if (const auto* failed = std::get_if<FailedToStart>(&evidence.result.outcome)) {
    const bool is_refused = failed->errno_value == EACCES || failed->errno_value == EPERM;
    if (failed->reason != FailedToStart::Reason::kNotExecutable || !is_refused || evidence.command.argv.empty()) {
      return std::nullopt;
    }
    return IsHeld(evidence) ? NotNamedHint(evidence.command.argv.front())
                            : NotExecutableHint(evidence.command.argv.front());
  }
  const std::string text = Complaints(evidence);
  const auto refusal = LastAnswer(text, DeniedIn);
  if (!refusal) return std::nullopt;
  if (ExitedWith(evidence, 126) && !refusal->subject.empty()) {
    return IsHeld(evidence) ? NotNamedHint(refusal->subject) : NotExecutableHint(refusal->subject);
  }
  const bool is_root = evidence.command.user == sandbox::User::kRoot;
  Hint hint{.code = "permission_denied", .message = "The sandbox refused what the command tried.", .suggestion = {}};
  if (!refusal->subject.empty())
    hint.message = "The command has no right to do this with " + Named(refusal->subject) + ".";
  if (refusal->is_permitted_to_nobody) {
    hint.suggestion = "Do it without what only a host's root may do, such as mounts and owners of files.";
  } else if (IsHeld(evidence)) {
    hint.suggestion = std::string("Use a path below ") + kWritable +
                      ", and of the image's programs those that the policy names: it lets no others be run or read.";
  } else if (is_root) {
    hint.suggestion = std::string("Use a path below ") + kWritable + ": no user of the sandbox has more rights.";
  } else {
    hint.suggestion = std::string("Use a path below ") + kWritable + ", or run it with --user root.";
  }
  return hint;
}

std::optional<Hint> ReadOnlyPath(const Evidence& evidence) {
  const std::string text = Complaints(evidence);
  const auto path = LastAnswer(text, ReadOnlyIn);
  if (!path) return std::nullopt;
  Hint hint{.code = "read_only_path", .message = "The command wrote to a read-only place.", .suggestion = {}};
  if (!path->empty()) hint.message = Named(*path) + " is in a read-only place.";
  const bool is_workspace = path->starts_with(plan::kAgentWorkspace) || (!path->empty() && !path->starts_with('/'));
  hint.suggestion = is_workspace ? "Write below /tmp, or give the workspace without `:ro`."
                                 : std::string("Write below ") + kWritable + ".";
  return hint;
}

}  // namespace caisson::hint
