#include "caisson/policy/rule_set.h"
#include "caisson/base/path_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include "caisson/policy/flag.h"
#include "caisson/policy/pattern.h"

namespace caisson::policy {
namespace {

using Words = std::span<const shell::Word>;

bool Has(const Rule& rule, Action action) {
  return std::find(rule.actions.begin(), rule.actions.end(), action) != rule.actions.end();
}

bool IsOneOf(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool FirstWordMatches(const Rule& rule, const CommandPattern& pattern, const Program& program) {
  const bool allows = rule.effect == Effect::kAllow;
  if (pattern.is_workspace_programs) return allows ? program.is_below_workspace : program.may_be_below_workspace;
  const std::string& first = pattern.words.front();
  const std::vector<std::string>& names = allows ? program.names : program.possible_names;
  if (first.front() != '/') return IsOneOf(names, first);
  if (!program.path.empty()) return program.path == first || program.target == first;
  return IsSearchFolder(FolderOf(first)) && IsOneOf(names, LastPart(first));
}

// The words begin with those of the pattern, and all of these are known.
bool BeginsWith(const CommandPattern& pattern, Words arguments) {
  if (arguments.size() + 1 < pattern.words.size()) return false;
  for (std::size_t i = 1; i < pattern.words.size(); ++i) {
    if (arguments[i - 1].value != pattern.words[i]) return false;
  }
  return true;
}

// `git -c alias.p=push p`, `git --config-env=alias.p=X p`: an option gives a word the meaning of others.
bool DefinesAlias(std::string_view word) {
  constexpr std::string_view kOption = "--config-env=";
  constexpr std::string_view kAlias = "alias.";
  if (word.starts_with(kOption)) word.remove_prefix(kOption.size());
  return word.size() >= kAlias.size() &&
         std::equal(kAlias.begin(), kAlias.end(), word.begin(), [](char a, char b) { return a == (b | 0x20); });
}

// The words may mean those of the pattern: any option may stand between them, with a value of its own or without, and
// what is not known may be any words.
bool MayBeginWith(const CommandPattern& pattern, Words arguments) {
  const std::size_t wanted = pattern.words.size();
  std::uint64_t after_word = 2;  // bit i: words before i were met, and the last word was no option
  std::uint64_t after_option = 0;
  if (wanted == 1) return true;
  const bool of_git = LastPart(pattern.words.front()) == "git";
  for (const shell::Word& word : arguments) {
    if (!word.value || (of_git && DefinesAlias(*word.value))) return true;
    std::uint64_t next_word = after_option;  // the value of the option
    std::uint64_t next_option = 0;
    for (std::size_t i = 1; i < wanted; ++i) {
      if (((after_word | after_option) >> i & 1U) != 0 && *word.value == pattern.words[i]) {
        next_word |= std::uint64_t{1} << (i + 1);
      }
    }
    if (word.value->starts_with('-')) next_option = after_word | after_option;
    if ((next_word >> wanted & 1U) != 0) return true;
    if ((next_word | next_option) == 0) return false;
    after_word = next_word;
    after_option = next_option;
  }
  return false;
}

// A rule that allows must be sure; one that asks or denies counts when it may be meant.
std::string WhyNotByFlags(const Rule& rule, Words arguments) {
  const bool allows = rule.effect == Effect::kAllow;
  for (const std::string& flag : rule.forbid_flags) {
    const Presence presence = FindFlag(flag, arguments);
    if (presence == Presence::kYes) return "not with " + flag;
    if (allows && presence == Presence::kMaybe) return "not with what may be " + flag;
  }
  for (const std::string& flag : rule.require_flags) {
    const Presence presence = FindFlag(flag, arguments);
    if (presence == Presence::kNo || (allows && presence == Presence::kMaybe)) return "only with " + flag;
  }
  return {};
}

}  // namespace

RuleSet::RuleSet(std::string name, Effect default_effect, std::vector<Rule> rules)
    : name_(std::move(name)), default_effect_(default_effect), rules_(std::move(rules)) {
  allows_everything_ =
      default_effect_ == Effect::kAllow &&
      std::all_of(rules_.begin(), rules_.end(), [](const Rule& r) { return r.effect == Effect::kAllow; });
  for (std::uint32_t i = 0; i < rules_.size(); ++i) {
    IndexCommands(i);
    IndexPaths(i);
    const auto is_other = [](Action action) { return action >= Action::kProcessSignal; };
    if (std::any_of(rules_[i].actions.begin(), rules_[i].actions.end(), is_other)) of_others_.push_back(i);
  }
}

void RuleSet::IndexCommands(std::uint32_t index) {
  const Rule& rule = rules_[index];
  for (std::uint32_t i = 0; i < rule.commands.size(); ++i) {
    const CommandPattern& pattern = rule.commands[i];
    const Place place{.rule = index, .pattern = i};
    const std::string first = pattern.is_workspace_programs ? pattern.text() : pattern.words.front();
    if (rule.effect == Effect::kAllow && allowed_commands_.size() < kMostNamed && !IsOneOf(allowed_commands_, first)) {
      allowed_commands_.push_back(first);
    }
    if (pattern.is_workspace_programs) {
      of_workspace_programs_.push_back(place);
      continue;
    }
    std::vector<std::string_view> keys = {first};
    if (first.front() == '/' && IsSearchFolder(FolderOf(first))) keys.push_back(LastPart(first));
    for (const std::string_view key : keys) {
      ByWord& found = by_first_word_[std::string(key)];
      if (pattern.words.size() == 1) {
        found.whole.push_back(place);
        continue;
      }
      found.longer[pattern.words[1]].push_back(place);
      if (rule.effect != Effect::kAllow) found.strict.push_back(place);
    }
  }
}

void RuleSet::IndexPaths(std::uint32_t index) {
  for (const PathPattern& pattern : rules_[index].paths) {
    if (pattern.kind == PathPattern::Kind::kGlob) {
      of_globs_.push_back(index);
    } else {
      (pattern.kind == PathPattern::Kind::kExact ? by_path_ : by_folder_)[pattern.text].push_back(index);
    }
  }
}

void RuleSet::Collect(std::string_view first, Words arguments, std::vector<Place>& found) const {
  const auto by_word = by_first_word_.find(first);
  if (by_word == by_first_word_.end()) return;
  const auto add = [&found](const std::vector<Place>& places) {
    found.insert(found.end(), places.begin(), places.end());
  };
  add(by_word->second.whole);
  if (by_word->second.longer.empty()) return;
  const bool may_mean_any = std::any_of(arguments.begin(), arguments.end(), [](const shell::Word& word) {
    return !word.value || DefinesAlias(*word.value);
  });
  if (may_mean_any) add(by_word->second.strict);
  for (const shell::Word& word : arguments) {
    if (!word.value) continue;
    const auto places = by_word->second.longer.find(*word.value);
    if (places != by_word->second.longer.end()) add(places->second);
  }
}

Matches RuleSet::About(const Program& program, Words arguments) const {
  std::vector<Place> found;
  for (const auto* names : {&program.names, &program.possible_names}) {
    for (const std::string& name : *names) Collect(name, arguments, found);
  }
  for (const std::string* path : {&program.path, &program.target}) {
    if (!path->empty()) Collect(*path, arguments, found);
  }
  found.insert(found.end(), of_workspace_programs_.begin(), of_workspace_programs_.end());
  std::sort(found.begin(), found.end());
  Matches matches{.list = {}, .looked_at = found.size()};
  for (const Place& place : found) {
    const Rule& rule = rules_[place.rule];
    if (!matches.list.empty() && matches.list.back().rule == &rule) continue;  // one of its patterns is enough
    const CommandPattern& pattern = rule.commands[place.pattern];
    if (!FirstWordMatches(rule, pattern, program)) continue;
    const bool meant =
        pattern.is_workspace_programs ||
        (rule.effect == Effect::kAllow ? BeginsWith(pattern, arguments) : MayBeginWith(pattern, arguments));
    if (meant) matches.list.push_back({.rule = &rule, .why_not = WhyNotByFlags(rule, arguments)});
  }
  return matches;
}

Matches RuleSet::AboutFile(Action action, std::string_view path) const {
  std::vector<std::uint32_t> found;
  const auto add = [&found](const auto& index, std::string_view text) {
    if (const auto at = index.find(text); at != index.end()) {
      found.insert(found.end(), at->second.begin(), at->second.end());
    }
  };
  add(by_path_, path);
  for (std::string_view folder = path;; folder = FolderOf(folder)) {
    add(by_folder_, folder);
    if (folder.size() <= 1) break;
  }
  for (const std::uint32_t index : of_globs_) {
    const auto matches = [path](const PathPattern& p) { return p.kind == PathPattern::Kind::kGlob && p.Matches(path); };
    if (std::any_of(rules_[index].paths.begin(), rules_[index].paths.end(), matches)) found.push_back(index);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  Matches matches{.list = {}, .looked_at = found.size() + of_globs_.size()};
  for (const std::uint32_t index : found) {
    if (Has(rules_[index], action)) matches.list.push_back({.rule = &rules_[index], .why_not = {}});
  }
  return matches;
}

Matches RuleSet::AboutOther(Action action, std::string_view what) const {
  Matches matches{.list = {}, .looked_at = of_others_.size()};
  for (const std::uint32_t index : of_others_) {
    const Rule& rule = rules_[index];
    if (!Has(rule, action)) continue;
    const auto host_matches = [what](const std::string& host) { return HostMatches(host, what); };
    if (action == Action::kNetworkConnect && std::none_of(rule.hosts.begin(), rule.hosts.end(), host_matches)) continue;
    if (action == Action::kSecretUse && !IsOneOf(rule.secrets, what)) continue;
    matches.list.push_back({.rule = &rule, .why_not = {}});
  }
  return matches;
}

bool RuleSet::AllowsProgram(std::string_view name) const {
  const auto found = by_first_word_.find(name);
  if (found == by_first_word_.end()) return false;
  const auto allows = [this](const Place& place) { return rules_[place.rule].effect == Effect::kAllow; };
  return std::any_of(found->second.whole.begin(), found->second.whole.end(), allows);
}

}  // namespace caisson::policy
