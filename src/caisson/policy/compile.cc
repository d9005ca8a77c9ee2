#include "caisson/policy/compile.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "caisson/plan/limits.h"
#include "caisson/policy/grant_set.h"
#include "caisson/policy/program_grants.h"

namespace caisson::policy {
namespace {

using plan::FileGrant;
using plan::FileRights;

struct FileAction {
  Action action;
  FileRights tree;  // what it grants below a folder
  FileRights file;  // and of a single file
};
constexpr std::array<FileAction, 3> kFileActions = {{
    {Action::kFileRead, plan::kReadFile | plan::kReadFolder, plan::kReadFile},
    {Action::kFileWrite, plan::kWriteFile | plan::kCreateFile, plan::kWriteFile},
    {Action::kFileDelete, plan::kRemoveFile, 0},
}};

bool Covers(const Rule& rule, Action action) {
  return std::find(rule.actions.begin(), rule.actions.end(), action) != rule.actions.end();
}

bool AllowsEveryCommand(const Rule& rule) {
  return rule.effect == Effect::kAllow && Covers(rule, Action::kProcessExec) && rule.commands.empty();
}

bool HasWorkspacePrograms(const Rule& rule) {
  return std::any_of(rule.commands.begin(), rule.commands.end(),
                     [](const CommandPattern& pattern) { return pattern.is_workspace_programs; });
}

bool IsConditional(const Rule& rule) { return rule.when || rule.not_before || rule.expires_at || rule.max_uses; }

// The folder that a pattern cannot lead out of: of a glob, which only the tool can tell, the part before its first
// star.
std::string TreeOf(const PathPattern& pattern) {
  if (pattern.kind != PathPattern::Kind::kGlob) return pattern.text.empty() ? "/" : pattern.text;
  const std::string plain = pattern.text.substr(0, pattern.text.find_first_of("*?"));
  const std::size_t slash = plain.rfind('/');
  return slash == 0 ? "/" : plain.substr(0, slash);
}

// What every command may read, since no program starts without it. The devices of a sandbox are harmless.
constexpr std::array<const char*, 3> kAlwaysRead = {"/etc", "/proc", "/dev"};

// What every command may write and remove: its own files of proc, and devices. Owners, modes and read-only mounts bind
// there.
struct BasicGrant {
  const char* folder;
  Action action;
  FileRights rights;
};
constexpr std::array<BasicGrant, 4> kAlwaysWritten = {{
    {"/proc", Action::kFileWrite, plan::kWriteFile},
    {"/dev", Action::kFileWrite, plan::kWriteFile | plan::kDeviceControl},
    {"/dev/shm", Action::kFileWrite, plan::kCreateFile},
    {"/dev/shm", Action::kFileDelete, plan::kRemoveFile},
}};

std::string Named(const Rule& rule) { return "the rule '" + rule.name + "' (" + rule.source + ")"; }

Error CannotHold(const Rule& rule, const std::string& why, const std::string& remedy) {
  return Error(Code::kUnsupported, "the kernel cannot enforce " + Named(rule) + ": " + why)
      .Remedy(remedy)
      .Detail("rule", rule.name);
}

constexpr const char* kToolOnly = "enforcement = \"tool\" for a rule that binds the tools and no program";

// Which folders rules allow to be read, written or removed from, to find what lies inside one.
class AllowedTrees {
 public:
  AllowedTrees(const Policy& policy, Action action) {
    for (const Rule& rule : policy.rules()) {
      if (rule.effect != Effect::kAllow || !Covers(rule, action)) continue;
      for (const PathPattern& pattern : rule.paths) {
        if (pattern.kind != PathPattern::Kind::kExact) trees_.emplace(TreeOf(pattern), Named(rule));
      }
    }
    if (policy.default_effect() == Effect::kAllow) trees_.emplace("/", "the default");
    const std::string always = "what every program needs";
    for (const BasicGrant& basic : kAlwaysWritten) {
      if (basic.action == action) trees_.emplace(basic.folder, always);
    }
    if (action != Action::kFileRead) return;
    for (const char* folder : kAlwaysRead) trees_.emplace(folder, always);
    for (const char* name : os::kProgramFolders) trees_.emplace(std::string("/") + name, always);
  }

  struct Outer {
    std::string folder;
    std::string allowed_by;
  };
  // The nearest one around `tree`, which is not the same.
  std::optional<Outer> Around(std::string tree) const {
    while (tree.size() > 1) {
      tree.resize(std::max<std::size_t>(tree.rfind('/'), 1));
      if (const auto found = trees_.find(tree); found != trees_.end()) return Outer{found->first, found->second};
    }
    return std::nullopt;
  }

 private:
  std::map<std::string, std::string> trees_;
};

Status CheckProgramsReadable(const Rule& refusal, const PathPattern& pattern) {
  if (pattern.kind == PathPattern::Kind::kExact) return {};
  for (const char* name : os::kProgramFolders) {
    const std::string folder = std::string("/") + name;
    if (!IsWithin(folder, TreeOf(pattern))) continue;
    return Fail(CannotHold(refusal, folder + " holds what every program needs to read",
                           std::string("refuse less, or use ") + kToolOnly));
  }
  return {};
}

// A deny or ask of files inside what something else allows: Landlock rules only add rights.
Status CheckFileRefusals(const Policy& policy, const FileAction& kind) {
  const AllowedTrees allowed(policy, kind.action);
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
                                 ", which " + outer->allowed_by + " allows, and Landlock only adds rights",
                             std::string("allow narrower folders, or use ") + kToolOnly));
    }
  }
  return {};
}

Status CheckCommandRefusal(const Policy& policy, const Rule& refusal) {
  if (!Covers(refusal, Action::kProcessExec) || refusal.commands.empty()) return {};
  switch (ExecutionOf(policy)) {
    case Execution::kAnything:
      return Fail(CannotHold(refusal, "every program may run, so a copy under another name may run too",
                             std::string("list the commands that are allowed, or use ") + kToolOnly));
    case Execution::kWorkspaceToo: {
      const auto is_of_workspace = [](const CommandPattern& pattern) {
        return pattern.is_workspace_programs || IsWithin(pattern.words.front(), plan::kAgentWorkspace);
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

Status CheckConditions(const Policy& policy, const Rule& rule) {
  const bool is_fixed = HasWorkspacePrograms(rule) || AllowsEveryCommand(rule);
  if (!IsConditional(rule) || !is_fixed || policy.default_effect() == Effect::kAllow) return {};
  return Fail(CannotHold(rule,
                         "whether files of the workspace can be executed is fixed when a sandbox is made, and so "
                         "cannot depend on the time or on uses",
                         std::string("leave its conditions out, or use ") + kToolOnly));
}

Status CheckWriting(const Policy& policy, const Rule& rule) {
  if (ExecutionOf(policy) == Execution::kAnything) return {};
  if (!Covers(rule, Action::kFileWrite) && !Covers(rule, Action::kFileDelete)) return {};
  for (const PathPattern& pattern : rule.paths) {
    const std::string tree = TreeOf(pattern);
    for (const char* name : os::kProgramFolders) {
      const std::string folder = std::string("/") + name;
      if (!IsWithin(tree, folder) && !IsWithin(folder, tree)) continue;
      return Fail(CannotHold(rule, folder + " holds the programs that the list of commands chooses from",
                             "allow writing elsewhere, or every command"));
    }
  }
  return {};
}

// Whether everything below `tree` may always be written.
bool IsWritable(const Policy& policy, const std::string& tree) {
  bool is_allowed = false;
  for (const Rule& rule : policy.rules()) {
    const bool is_about = Covers(rule, Action::kFileWrite) &&
                          std::any_of(rule.paths.begin(), rule.paths.end(),
                                      [&](const PathPattern& pattern) { return IsWithin(tree, TreeOf(pattern)); });
    if (!is_about) continue;
    if (rule.effect != Effect::kAllow && rule.enforcement == Enforcement::kKernel) return false;
    is_allowed = is_allowed || (rule.effect == Effect::kAllow && !IsConditional(rule));
  }
  return is_allowed;
}

// Where truncation is not controlled, whoever may read a file of its own may empty it.
Status CheckTruncation(const Policy& policy, const Rule& rule) {
  if (!Covers(rule, Action::kFileRead) || policy.default_effect() == Effect::kAllow) return {};
  // Read-only ground of the image belongs to root: there nothing can be truncated.
  constexpr std::array<const char*, 3> kAgentsOwn = {plan::kAgentHome, "/tmp", "/var/tmp"};
  for (const PathPattern& pattern : rule.paths) {
    const std::string tree = TreeOf(pattern);
    for (const char* own : kAgentsOwn) {
      if (!IsWithin(tree, own) && !IsWithin(own, tree)) continue;
      const std::string part = IsWithin(tree, own) ? tree : own;
      if (IsWritable(policy, part)) continue;
      return Fail(CannotHold(rule,
                             part + " may be read and not written, but this kernel lets it be truncated: that "
                                    "needs Landlock version 3, Linux 6.2",
                             "use a newer kernel, or allow writing there too"));
    }
  }
  return {};
}

class Compiler {
 public:
  Compiler(const Policy& policy, const os::ProgramIndex& index, const Situation& situation,
           const std::vector<const Rule*>& used)
      : policy_(policy), index_(index), situation_(situation), used_(used), grants_(index) {}

  Result<plan::KernelPlan> Run() {
    AddFiles();
    CAISSON_CHECK_OK(AddPrograms());
    AddBasis();
    plan::KernelPlan plan{.grants = grants_.Take()};
    std::size_t bytes = 0;
    for (const FileGrant& grant : plan.grants) bytes += grant.path.size() + 16;
    if (plan.grants.size() > plan::kMostGrants || bytes > plan::kMostGrantBytes) {
      return Fail(Error(Code::kResourceExhausted, "the policy needs more kernel rules than a command is given")
                      .Because("the image has programs in very many folders"));
    }
    return plan;
  }

 private:
  bool Holds(const Rule& rule) const {
    if (rule.max_uses) return std::find(used_.begin(), used_.end(), &rule) != used_.end();
    return !WhyNotNow(rule, situation_);
  }

  // A refusal that binds now. One that asks refuses when it may not ask, too.
  bool Refuses(const Rule& rule, Action action) const {
    return rule.effect != Effect::kAllow && rule.enforcement == Enforcement::kKernel && Covers(rule, action) &&
           (rule.effect == Effect::kAsk || !WhyNotNow(rule, situation_));
  }

  // Whether something forbids the action for the whole tree; less than that was refused before.
  bool IsRefused(Action action, const std::string& tree) const {
    const auto refuses = [&](const Rule& rule) {
      return Refuses(rule, action) &&
             std::any_of(rule.paths.begin(), rule.paths.end(), [&](const PathPattern& pattern) {
               return pattern.kind != PathPattern::Kind::kExact ? IsWithin(tree, TreeOf(pattern))
                                                                : tree == pattern.text;
             });
    };
    return std::any_of(policy_.rules().begin(), policy_.rules().end(), refuses);
  }

  void AddFiles() {
    for (const FileAction& kind : kFileActions) {
      if (policy_.default_effect() == Effect::kAllow && !IsRefused(kind.action, "/")) AddTree(kind, "/");
      for (const Rule& rule : policy_.rules()) {
        if (rule.effect != Effect::kAllow || !Covers(rule, kind.action) || !Holds(rule)) continue;
        for (const PathPattern& pattern : rule.paths) {
          if (IsRefused(kind.action, TreeOf(pattern))) continue;
          if (pattern.kind != PathPattern::Kind::kExact) {
            AddTree(kind, TreeOf(pattern));
          } else if (kind.file != 0 && !IsUnnamedProgram(pattern.text)) {
            grants_.Add(pattern.text, kind.file, FileGrant::Reach::kItself);
          }
        }
      }
    }
  }

  bool IsUnnamedProgram(const std::string& path) const {
    return !runs_everything_ && std::binary_search(index_.programs.begin(), index_.programs.end(), path);
  }

  void AddTree(const FileAction& kind, const std::string& tree) {
    if (kind.action == Action::kFileRead && !runs_everything_) {
      grants_.AddReading(tree);
    } else {
      grants_.Add(tree, kind.tree);
    }
  }

  std::set<std::string> DeniedNames() const {
    std::set<std::string> names;
    for (const Rule& rule : policy_.rules()) {
      // With more words or flags it depends on what the program is told, which the kernel does not see.
      const bool binds = Refuses(rule, Action::kProcessExec) && rule.forbid_flags.empty() && rule.require_flags.empty();
      if (!binds) continue;
      for (const CommandPattern& pattern : rule.commands) {
        if (pattern.words.size() == 1) names.insert(pattern.words.front());
      }
    }
    return names;
  }

  Status AddPrograms() {
    if (runs_everything_) {
      grants_.Add("/", plan::kExecuteFile);
      return {};
    }
    const std::set<std::string> denied = DeniedNames();
    ProgramGrants programs(index_, denied, grants_);
    programs.AllowBasis();
    for (const Rule& rule : policy_.rules()) {
      if (rule.effect != Effect::kAllow || !Covers(rule, Action::kProcessExec) || !Holds(rule)) continue;
      for (const CommandPattern& pattern : rule.commands) {
        if (pattern.is_workspace_programs) {
          grants_.Add(plan::kAgentWorkspace, plan::kExecuteFile | plan::kReadFile | plan::kReadFolder);
        } else {
          programs.AllowCommand(pattern.words.front(), rule.helpers);
        }
      }
    }
    return programs.CheckNames();
  }

  void AddBasis() {
    grants_.Add("/", plan::kReadFolder);
    for (const std::string& root : index_.roots) {
      if (!runs_everything_) grants_.AddReading(root);
    }
    if (runs_everything_) grants_.Add("/", plan::kReadFile);
    for (const char* folder : kAlwaysRead) {
      if (!IsRefused(Action::kFileRead, folder)) grants_.Add(folder, plan::kReadFile | plan::kReadFolder);
    }
    for (const BasicGrant& basic : kAlwaysWritten) {
      if (!IsRefused(basic.action, basic.folder)) grants_.Add(basic.folder, basic.rights);
    }
  }

  const Policy& policy_;
  const os::ProgramIndex& index_;
  const Situation& situation_;
  const std::vector<const Rule*>& used_;
  GrantSet grants_;
  const bool runs_everything_ = ExecutionOf(policy_) == Execution::kAnything;
};

}  // namespace

Execution ExecutionOf(const Policy& policy) {
  const std::vector<Rule>& rules = policy.rules();
  if (policy.default_effect() == Effect::kAllow || std::any_of(rules.begin(), rules.end(), AllowsEveryCommand)) {
    return Execution::kAnything;
  }
  const auto runs_workspace = [](const Rule& rule) {
    return rule.effect == Effect::kAllow && HasWorkspacePrograms(rule);
  };
  return std::any_of(rules.begin(), rules.end(), runs_workspace) ? Execution::kWorkspaceToo : Execution::kNamed;
}

Status CheckEnforceable(const Policy& policy, const KernelFeatures& features) {
  for (const Rule& rule : policy.rules()) {
    const bool binds = rule.enforcement == Enforcement::kKernel;
    if (rule.effect != Effect::kAllow) {
      if (binds) CAISSON_CHECK_OK(CheckCommandRefusal(policy, rule));
      continue;
    }
    if (binds) CAISSON_CHECK_OK(CheckConditions(policy, rule));
    // The kernel grants what a rule allows, whoever holds its bounds.
    CAISSON_CHECK_OK(CheckWriting(policy, rule));
    if (!features.controls_truncation) CAISSON_CHECK_OK(CheckTruncation(policy, rule));
  }
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
    const bool writes = rule.effect == Effect::kAllow && Covers(rule, Action::kFileWrite);
    if (writes && !Covers(rule, Action::kFileDelete)) {
      lines.push_back(Named(rule) + " allows writing without deleting: what is there can still be emptied");
    }
  }
  return lines;
}

Result<std::optional<plan::KernelPlan>> Compile(const Policy& policy, const os::ProgramIndex& index,
                                                const Situation& situation, const std::vector<const Rule*>& used) {
  if (policy.allows_everything()) return std::nullopt;
  CAISSON_TRY(plan::KernelPlan plan, Compiler(policy, index, situation, used).Run());
  return plan;
}

}  // namespace caisson::policy
