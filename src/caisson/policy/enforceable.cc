// What of a policy the kernel can hold at all: the part of compile.h that needs no image.

#include <algorithm>
#include <array>

#include "caisson/base/path_text.h"
#include "caisson/os/program_index.h"
#include "caisson/plan/limits.h"
#include "caisson/policy/compile.h"
#include "caisson/policy/kernel_terms.h"
#include "caisson/policy/pattern.h"

namespace caisson::policy {
namespace {

std::string Named(const Rule& rule) { return "the rule '" + rule.name + "' (" + rule.source + ")"; }

Error CannotHold(const Rule& rule, const std::string& why, const std::string& remedy) {
  return Error(Code::kUnsupported, "the kernel cannot enforce " + Named(rule) + ": " + why)
      .Remedy(remedy)
      .Detail("rule", rule.name);
}

constexpr const char* kToolOnly = "enforcement = \"tool\" for a rule that binds the tools and no program";

// Which folders rules allow to be read, written or removed from, to find what lies inside one.
TreeSet AllowedTrees(const Policy& policy, Action action) {
  TreeSet trees;
  for (const Rule& rule : policy.rules()) {
    if (rule.effect != Effect::kAllow || !Covers(rule, action)) continue;
    for (const PathPattern& pattern : rule.paths) {
      if (pattern.kind != PathPattern::Kind::kExact) trees.Add(TreeOf(pattern), Named(rule));
    }
  }
  if (policy.default_effect() == Effect::kAllow) trees.Add("/", "the default");
  constexpr const char* kAlways = "what every program needs";
  for (const BasicGrant& basic : kAlwaysWritten) {
    if (basic.action == action) trees.Add(basic.folder, kAlways);
  }
  if (action != Action::kFileRead) return trees;
  for (const char* folder : kAlwaysRead) trees.Add(folder, kAlways);
  for (const char* name : os::kProgramFolders) trees.Add(std::string("/") + name, kAlways);
  return trees;
}

Status CheckProgramsReadable(const Rule& refusal, const PathPattern& pattern) {
  if (pattern.kind == PathPattern::Kind::kExact) return {};
  for (const char* name : os::kProgramFolders) {
    const std::string folder = std::string("/") + name;
    if (!IsBelow(folder, TreeOf(pattern))) continue;
    return Fail(CannotHold(refusal, folder + " holds what every program needs to read",
                           std::string("refuse less, or use ") + kToolOnly));
  }
  return {};
}

// Where rules let programs run by their paths, which takes reading them.
std::vector<std::pair<std::string, const Rule*>> ProgramTrees(const Policy& policy) {
  std::vector<std::pair<std::string, const Rule*>> trees;
  for (const Rule& rule : policy.rules()) {
    if (rule.effect != Effect::kAllow || !Covers(rule, Action::kProcessExec)) continue;
    const auto add = [&](const std::string& path) {
      const auto pattern = path.starts_with('/') ? ParsePathPattern(path) : Result<PathPattern>(PathPattern());
      if (pattern && !pattern->text.empty()) trees.emplace_back(TreeOf(*pattern), &rule);
    };
    for (const std::string& helper : rule.helpers) add(helper);
    for (const CommandPattern& command : rule.commands) {
      if (!command.words.empty()) add(command.words.front());
    }
  }
  return trees;
}

// What may not be read cannot be run either, and the kernel would let both.
Status CheckProgramRefusals(const Policy& policy) {
  TreeSet refused;
  TreeSet programs;
  const auto trees = ProgramTrees(policy);
  for (const auto& [tree, rule] : trees) programs.Add(tree, Named(*rule));
  for (const Rule& refusal : policy.rules()) {
    const bool is_refusal = refusal.effect != Effect::kAllow && refusal.enforcement == Enforcement::kKernel &&
                            Covers(refusal, Action::kFileRead);
    if (!is_refusal) continue;
    for (const PathPattern& pattern : refusal.paths) {
      const std::string tree = TreeOf(pattern);
      refused.Add(tree, Named(refusal));
      if (!programs.Has(tree)) continue;
      return Fail(CannotHold(refusal, "programs of " + tree + " may run, which takes reading them",
                             std::string("let one of the two be, or use ") + kToolOnly));
    }
  }
  for (const auto& [tree, rule] : trees) {
    if (!refused.Has(tree)) continue;
    return Fail(CannotHold(*rule, tree + " may run, which takes reading it, and another rule refuses that",
                           std::string("let one of the two be, or give the refusal ") + kToolOnly));
  }
  return {};
}

// A deny or ask of files inside what something else allows: Landlock rules only add rights.
Status CheckFileRefusals(const Policy& policy, const FileAction& kind) {
  const TreeSet allowed = AllowedTrees(policy, kind.action);
  for (const Rule& refusal : policy.rules()) {
    const bool is_refusal =
        refusal.effect != Effect::kAllow && refusal.enforcement == Enforcement::kKernel && Covers(refusal, kind.action);
    if (!is_refusal) continue;
    for (const PathPattern& pattern : refusal.paths) {
      const std::string tree = TreeOf(pattern);
      if (kind.action == Action::kFileRead) CAISSON_CHECK_OK(CheckProgramsReadable(refusal, pattern));
      const auto outer = allowed.Around(tree);
      if (!outer) continue;
      return Fail(CannotHold(refusal,
                             std::string(ActionName(kind.action)) + " of " + tree + " lies inside " + outer->folder +
                                 ", which " + outer->whose + " allows, and Landlock only adds rights",
                             std::string("allow narrower folders, or use ") + kToolOnly));
    }
  }
  return {};
}

Status CheckCommandRefusal(Execution execution, const Rule& refusal) {
  if (!Covers(refusal, Action::kProcessExec)) return {};
  switch (execution) {
    case Execution::kAnything:
      return Fail(CannotHold(refusal, "every program may run, so a copy under another name may run too",
                             std::string("list the commands that are allowed, or use ") + kToolOnly));
    case Execution::kWorkspaceToo: {
      const auto is_of_workspace = [](const CommandPattern& pattern) {
        return pattern.is_workspace_programs || IsBelow(pattern.words.front(), plan::kAgentWorkspace);
      };
      if (std::none_of(refusal.commands.begin(), refusal.commands.end(), is_of_workspace)) return {};
      return Fail(CannotHold(refusal, "every program of the workspace may run, and a file there under any name",
                             std::string("leave \"./**\" out of what is allowed, or use ") + kToolOnly));
    }
    case Execution::kNamed:
      break;
  }
  return {};
}

Status CheckConditions(Execution execution, const Rule& rule) {
  if (!IsConditional(rule) || !HasWorkspacePrograms(rule) || execution == Execution::kAnything) return {};
  return Fail(CannotHold(rule,
                         "whether files of the workspace can be executed is fixed when a sandbox is made, and so "
                         "cannot depend on the time or on uses",
                         std::string("leave its conditions out, or use ") + kToolOnly));
}

Status CheckWriting(Execution execution, const Rule& rule) {
  if (execution == Execution::kAnything) return {};
  if (!Covers(rule, Action::kFileWrite) && !Covers(rule, Action::kFileDelete)) return {};
  for (const PathPattern& pattern : rule.paths) {
    const std::string tree = TreeOf(pattern);
    for (const char* name : os::kProgramFolders) {
      const std::string folder = std::string("/") + name;
      if (!IsBelow(tree, folder) && !IsBelow(folder, tree)) continue;
      return Fail(CannotHold(rule, folder + " holds the programs that the list of commands chooses from",
                             "allow writing elsewhere, or every command"));
    }
  }
  return {};
}

// What may always be written.
class WritableTrees {
 public:
  explicit WritableTrees(const Policy& policy) {
    for (const Rule& rule : policy.rules()) {
      if (!Covers(rule, Action::kFileWrite)) continue;
      const bool is_refusal = rule.effect != Effect::kAllow && rule.enforcement == Enforcement::kKernel;
      const bool is_permission = rule.effect == Effect::kAllow && !IsConditional(rule);
      for (const PathPattern& pattern : rule.paths) {
        if (is_refusal) refused_.Add(TreeOf(pattern), rule.name);
        if (is_permission) allowed_.Add(TreeOf(pattern), rule.name);
      }
    }
  }
  bool Has(const std::string& tree) const { return allowed_.Has(tree) && !refused_.Has(tree); }

 private:
  TreeSet allowed_;
  TreeSet refused_;
};

// Where truncation is not controlled, whoever may read a file of its own may empty it.
Status CheckTruncation(const WritableTrees& writable, const Rule& rule) {
  if (!Covers(rule, Action::kFileRead)) return {};
  // Read-only ground of the image belongs to root: there nothing can be truncated.
  constexpr std::array<const char*, 3> kAgentsOwn = {plan::kAgentHome, "/tmp", "/var/tmp"};
  for (const PathPattern& pattern : rule.paths) {
    const std::string tree = TreeOf(pattern);
    for (const char* own : kAgentsOwn) {
      if (!IsBelow(tree, own) && !IsBelow(own, tree)) continue;
      const std::string part = IsBelow(tree, own) ? tree : own;
      if (writable.Has(part)) continue;
      return Fail(CannotHold(rule,
                             part + " may be read and not written, but this kernel lets it be truncated: that "
                                    "needs Landlock version 3, Linux 6.2",
                             "use a newer kernel, or allow writing there too"));
    }
  }
  return {};
}

}  // namespace

Execution ExecutionOf(const Policy& policy) {
  if (policy.default_effect() == Effect::kAllow) return Execution::kAnything;
  const auto runs_workspace = [](const Rule& rule) {
    return rule.effect == Effect::kAllow && HasWorkspacePrograms(rule);
  };
  const std::vector<Rule>& rules = policy.rules();
  return std::any_of(rules.begin(), rules.end(), runs_workspace) ? Execution::kWorkspaceToo : Execution::kNamed;
}

Status CheckEnforceable(const Policy& policy, const KernelFeatures& features) {
  const Execution execution = ExecutionOf(policy);
  const bool may_truncate = !features.controls_truncation && policy.default_effect() != Effect::kAllow;
  const WritableTrees writable(policy);
  for (const Rule& rule : policy.rules()) {
    const bool binds = rule.enforcement == Enforcement::kKernel;
    if (rule.effect != Effect::kAllow) {
      if (binds) CAISSON_CHECK_OK(CheckCommandRefusal(execution, rule));
      continue;
    }
    if (binds) CAISSON_CHECK_OK(CheckConditions(execution, rule));
    // The kernel grants what a rule allows, whoever holds its bounds.
    CAISSON_CHECK_OK(CheckWriting(execution, rule));
    if (may_truncate) CAISSON_CHECK_OK(CheckTruncation(writable, rule));
  }
  CAISSON_CHECK_OK(CheckProgramRefusals(policy));
  for (const FileAction& kind : kFileActions) CAISSON_CHECK_OK(CheckFileRefusals(policy, kind));
  return {};
}

std::vector<std::string> DescribeEnforcement(const Policy& policy) {
  if (policy.allows_everything()) return {"nothing is refused: isolation and limits alone bind"};
  std::vector<std::string> lines;
  switch (ExecutionOf(policy)) {
    case Execution::kAnything:
      lines.emplace_back("every program may run");
      break;
    case Execution::kWorkspaceToo:
      lines.emplace_back(
          "the kernel lets the programs that are named run, their helpers, and whatever lies in the "
          "workspace: there a program may be copied and run under another name");
      break;
    case Execution::kNamed:
      lines.emplace_back(
          "the kernel lets only the programs that are named run, and their helpers; no file that a "
          "command can write is ever executed");
      break;
  }
  lines.emplace_back("the image's programs, libraries and settings may be read, less programs that are not named");
  for (const Rule& rule : policy.rules()) {
    if (rule.enforcement == Enforcement::kTool) {
      lines.push_back(Named(rule) + " binds at the tool only, as it says");
    } else if (std::any_of(rule.commands.begin(), rule.commands.end(),
                           [](const CommandPattern& pattern) { return pattern.words.size() > 1; }) ||
               !rule.forbid_flags.empty() || !rule.require_flags.empty()) {
      lines.push_back(Named(rule) +
                      " binds at the tool only in what it says of arguments: the kernel sees the program");
    }
    if (rule.on_end == OnEnd::kStop) lines.push_back(Named(rule) + " stops what rests on it when its time is over");
    const bool writes = rule.effect == Effect::kAllow && Covers(rule, Action::kFileWrite);
    if (writes && !Covers(rule, Action::kFileDelete)) {
      lines.push_back(Named(rule) + " allows writing without deleting: what is there can still be emptied");
    }
  }
  return lines;
}

}  // namespace caisson::policy
