#include "caisson/policy/program_grants.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "caisson/base/path_text.h"
#include "caisson/policy/helper_table.h"
#include "caisson/policy/pattern.h"

namespace caisson::policy {
namespace {

// Files whose name decides what they do: whoever may execute one may choose any of its names.
constexpr std::array<std::string_view, 6> kManyInOne = {"busybox",   "busybox.static", "toybox",
                                                        "coreutils", "uutils",         "crunchgen"};

}  // namespace

ProgramGrants::ProgramGrants(const os::ProgramIndex& index, const std::set<std::string>& denied, GrantSet& grants)
    : index_(index), denied_(denied), grants_(grants) {
  for (const std::string& word : denied) {
    if (word.starts_with('/')) denied_files_.insert(word);
    for (const os::ProgramIndex::Entry* entry : EntriesOf(word)) denied_files_.insert(entry->real_path);
  }
}

std::vector<const os::ProgramIndex::Entry*> ProgramGrants::EntriesOf(const std::string& word) const {
  std::vector<const os::ProgramIndex::Entry*> entries;
  const bool is_path = word.starts_with('/');
  const auto [begin, end] = index_.by_name.equal_range(is_path ? std::string(LastPart(word)) : word);
  for (auto found = begin; found != end; ++found) {
    const os::ProgramIndex::Entry& entry = found->second;
    if (!is_path || entry.path == word || entry.real_path == word) entries.push_back(&entry);
  }
  return entries;
}

void ProgramGrants::AllowCommand(const std::string& word, const std::vector<std::string>& helpers) {
  if (denied_.contains(word)) return;
  todo_.push_back(word);
  todo_.insert(todo_.end(), helpers.begin(), helpers.end());
  while (!todo_.empty()) {
    const std::string next = std::move(todo_.back());
    todo_.pop_back();
    if (!denied_.contains(next) && seen_.insert(next).second) Allow(next);
  }
}

void ProgramGrants::AllowBasis() {
  for (const std::string& loader : index_.loaders) grants_.AddProgram(loader);
  for (const std::string_view shell : kShells) AllowCommand(std::string(shell), {});
}

void ProgramGrants::Allow(const std::string& word) {
  const bool is_path = word.starts_with('/');
  if (is_path && word.find('*') != std::string::npos) return AllowPattern(word);
  const std::vector<const os::ProgramIndex::Entry*> entries = EntriesOf(word);
  for (const os::ProgramIndex::Entry* entry : entries) AllowEntry(*entry);
  if (is_path && entries.empty()) {
    if (!denied_files_.contains(word)) grants_.AddProgram(word);
    return;
  }
  for (const std::string_view helper : HelpersOf(LastPart(word))) todo_.emplace_back(helper);
}

void ProgramGrants::AllowEntry(const os::ProgramIndex::Entry& entry) {
  if (denied_files_.contains(entry.real_path)) return;
  grants_.AddProgram(entry.real_path);
  if (entry.interpreter.empty()) return;
  if (!denied_files_.contains(entry.interpreter)) grants_.AddProgram(entry.interpreter);
  if (LastPart(entry.interpreter) == "env" && !entry.argument.starts_with('-')) todo_.push_back(entry.argument);
}

void ProgramGrants::AllowPattern(const std::string& text) {
  const Result<PathPattern> pattern = ParsePathPattern(text);
  if (!pattern) return;
  const auto is_inside = [&](const std::string& path) { return IsBelow(path, pattern->text); };
  if (pattern->kind == PathPattern::Kind::kBelow &&
      std::none_of(denied_files_.begin(), denied_files_.end(), is_inside)) {
    // Its scripts too.
    grants_.Add(pattern->text, plan::kExecuteFile | plan::kReadFile | plan::kReadFolder);
    return;
  }
  for (const std::string& program : index_.programs) {
    if (pattern->Matches(program) && !denied_files_.contains(program)) grants_.AddProgram(program);
  }
}

Status ProgramGrants::CheckNames() const {
  for (const auto& [name, entry] : index_.by_name) {
    const std::string_view file = LastPart(entry.real_path);
    if (std::find(kManyInOne.begin(), kManyInOne.end(), file) == kManyInOne.end()) continue;
    const auto is_allowed = [&](const std::string& allowed) {
      const std::vector<const os::ProgramIndex::Entry*> entries = EntriesOf(allowed);
      return std::any_of(entries.begin(), entries.end(),
                         [&](const os::ProgramIndex::Entry* other) { return other->real_path == entry.real_path; });
    };
    const auto allowed = std::find_if(seen_.begin(), seen_.end(), is_allowed);
    if (allowed == seen_.end() || seen_.contains(name)) continue;
    return Fail(Error(Code::kUnsupported, "the kernel cannot let '" + *allowed + "' run without '" + name +
                                              "': in this image both are the file " + entry.real_path)
                    .Remedy("use an image with separate programs, or a policy that allows every command"));
  }
  return {};
}

}  // namespace caisson::policy
