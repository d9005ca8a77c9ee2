#include "caisson/policy/explain.h"

#include <algorithm>
#include <set>

#include "caisson/base/utf8.h"
#include "caisson/policy/moment_text.h"

namespace caisson::policy {
namespace {

const Rule* FindRule(const Policy& policy, const std::string& name) {
  for (const Rule& rule : policy.rules()) {
    if (rule.name == name) return &rule;
  }
  return nullptr;
}

bool Has(const Rule& rule, Action action) {
  return std::find(rule.actions.begin(), rule.actions.end(), action) != rule.actions.end();
}

// The kernel knows programs and files; words and flags it does not see.
std::string Reach(const Rule& rule) {
  if (rule.enforcement == Enforcement::kTool) return "binds only at the tool";
  const auto is_longer = [](const CommandPattern& pattern) { return pattern.words.size() > 1; };
  const bool has_words = std::any_of(rule.commands.begin(), rule.commands.end(), is_longer);
  if (has_words || !rule.forbid_flags.empty() || !rule.require_flags.empty()) {
    return "binds in the kernel as far as the program goes; its words and flags bind only at the tool";
  }
  if (rule.max_uses) return "binds in the kernel; its uses are counted at the tool";
  return "binds in the kernel";
}

std::string Binding(const Rule& rule) {
  return Reach(rule) + (rule.on_end == OnEnd::kStop ? "; what rests on it is stopped when its time is over" : "");
}

std::string Line(const Finding& finding) {
  std::string line = "  " + Printable(finding.subject) + ": ";
  line += finding.counts ? std::string(EffectName(finding.effect))
                         : std::string(EffectName(finding.effect)) + ", but it does not count";
  if (finding.rule.empty()) {
    line += " by default (" + Printable(finding.source) + ")";
  } else {
    line += " by " + Quoted(finding.rule) + " (" + Printable(finding.source) + ")";
  }
  if (!finding.why.empty()) line += ": " + Printable(finding.why);
  return line + "\n";
}

bool AllowsAny(const Policy& policy, Action action) {
  return policy.default_effect() == Effect::kAllow ||
         std::any_of(policy.rules().begin(), policy.rules().end(),
                     [action](const Rule& rule) { return rule.effect == Effect::kAllow && Has(rule, action); });
}

bool AllowsWorkspacePrograms(const Policy& policy) {
  for (const Rule& rule : policy.rules()) {
    for (const CommandPattern& pattern : rule.commands) {
      if (rule.effect == Effect::kAllow && pattern.is_workspace_programs) return true;
    }
  }
  return false;
}

// What a reader of the rules could take for stopped.
std::string Caveats(const Policy& policy) {
  std::string text;
  if (AllowsAny(policy, Action::kFileDelete)) {
    text +=
        "  A program that is allowed, such as Python, may delete what file.delete allows: no rule about rm stops it.\n";
  } else if (AllowsAny(policy, Action::kFileWrite)) {
    text += "  Writing without deleting still lets a file be emptied.\n";
  }
  if (AllowsWorkspacePrograms(policy)) {
    text +=
        "  With \"./**\" a program can be copied into the workspace and run under another name: the list then "
        "guides.\n";
  }
  return text;
}

}  // namespace

std::string Explain(const Policy& policy, const Decision& decision) {
  std::string text = std::string(EffectName(decision.effect)) + " by " + Quoted(decision.rule);
  if (!decision.source.empty()) text += " (" + Printable(decision.source) + ")";
  text += "\n" + Printable(decision.reason) + "\n";
  if (!decision.alternative.empty()) text += "instead: " + Printable(decision.alternative) + "\n";
  if (decision.stop) {
    text += "it is stopped at " + MomentText(decision.stop->at) + ", when the time of " +
            Quoted(decision.stop->rule->name) + " is over\n";
  }
  if (!decision.findings.empty()) text += "findings:\n";
  std::set<std::string> counted;
  for (const Finding& finding : decision.findings) {
    text += Line(finding);
    if (finding.counts && !finding.rule.empty()) counted.insert(finding.rule);
  }
  std::string bindings;
  for (const std::string& name : counted) {
    if (const Rule* rule = FindRule(policy, name)) bindings += "  " + Quoted(name) + " " + Binding(*rule) + "\n";
  }
  if (!bindings.empty()) text += "rules:\n" + bindings;
  if (decision.effect == Effect::kDeny) return text;
  if (const std::string caveats = Caveats(policy); !caveats.empty()) text += "know:\n" + caveats;
  return text;
}

}  // namespace caisson::policy
