#include "caisson/policy/compile.h"

#include <algorithm>
#include <map>
#include <set>

#include "caisson/plan/limits.h"
#include "caisson/policy/grant_set.h"
#include "caisson/policy/kernel_terms.h"
#include "caisson/policy/program_grants.h"

namespace caisson::policy {
namespace {

using plan::FileGrant;

class Compiler {
 public:
  Compiler(const Policy& policy, const os::ProgramIndex& index, const Situation& situation,
           const std::vector<const Rule*>& lent)
      : policy_(policy), index_(index), situation_(situation), lent_(lent), grants_(index) {
    for (const Rule& rule : policy.rules()) {
      if (!Refuses(rule)) continue;
      for (const Action action : rule.actions) AddRefusal(rule, action);
    }
  }

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
  bool IsLent(const Rule& rule) const { return std::find(lent_.begin(), lent_.end(), &rule) != lent_.end(); }

  bool Holds(const Rule& rule) const { return rule.max_uses ? IsLent(rule) : !WhyNotNow(rule, situation_); }

  // Programs of a rule that stops what it let run are not for what would go on.
  bool LetsRun(const Rule& rule) const {
    return rule.effect == Effect::kAllow && Covers(rule, Action::kProcessExec) && Holds(rule) &&
           (rule.on_end == OnEnd::kFinish || IsLent(rule));
  }

  // A refusal that binds now. One that asks refuses when it may not ask, too.
  bool Refuses(const Rule& rule) const {
    return rule.effect != Effect::kAllow && rule.enforcement == Enforcement::kKernel &&
           (rule.effect == Effect::kAsk || !WhyNotNow(rule, situation_));
  }

  void AddRefusal(const Rule& rule, Action action) {
    Refused& refused = refused_[action];
    for (const PathPattern& pattern : rule.paths) {
      if (pattern.kind == PathPattern::Kind::kExact) {
        refused.files.insert(pattern.text);
      } else {
        refused.trees.Add(TreeOf(pattern), rule.name);
      }
    }
    // With more words or flags it depends on what the program is told, which the kernel does not see.
    if (action != Action::kProcessExec || !rule.forbid_flags.empty() || !rule.require_flags.empty()) return;
    for (const CommandPattern& pattern : rule.commands) {
      if (pattern.words.size() == 1) denied_.insert(pattern.words.front());
    }
  }

  // Whether something forbids the action for the whole tree; less than that was refused before.
  bool IsRefused(Action action, const std::string& tree) const {
    const auto refused = refused_.find(action);
    return refused != refused_.end() && (refused->second.files.contains(tree) || refused->second.trees.Has(tree));
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

  Status AddPrograms() {
    if (runs_everything_) {
      grants_.Add("/", plan::kExecuteFile);
      return {};
    }
    ProgramGrants programs(index_, denied_, grants_);
    programs.AllowBasis();
    for (const Rule& rule : policy_.rules()) {
      if (!LetsRun(rule)) continue;
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
  const std::vector<const Rule*>& lent_;
  struct Refused {
    TreeSet trees;
    std::set<std::string> files;
  };
  std::map<Action, Refused> refused_;
  std::set<std::string> denied_;  // programs, by name or absolute path
  GrantSet grants_;
  const bool runs_everything_ = ExecutionOf(policy_) == Execution::kAnything;
};

}  // namespace

Result<std::optional<plan::KernelPlan>> Compile(const Policy& policy, const os::ProgramIndex& index,
                                                const Situation& situation, const std::vector<const Rule*>& lent) {
  if (policy.allows_everything()) return std::nullopt;
  CAISSON_TRY(plan::KernelPlan plan, Compiler(policy, index, situation, lent).Run());
  return plan;
}

}  // namespace caisson::policy
