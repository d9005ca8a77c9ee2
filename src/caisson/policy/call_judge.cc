#include "caisson/policy/call_judge.h"
#include "caisson/base/path_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include "caisson/base/utf8.h"
#include "caisson/plan/limits.h"
#include "caisson/policy/alternative.h"
#include "caisson/policy/variable.h"

namespace caisson::policy {
namespace {

constexpr std::size_t kMostDepth = 8;       // of commands and texts inside others
constexpr std::size_t kMostWork = 500'000;  // patterns that one call is compared with
constexpr std::size_t kWorkOfAPart = 10;
constexpr std::size_t kMostFolders = 8;
constexpr std::size_t kLongestSubject = 160;

std::string Shortened(std::string_view text) {
  if (text.size() <= kLongestSubject) return Printable(text);
  const std::string_view kept = text.substr(0, kLongestSubject);
  return Printable(kept.substr(0, WholeUtf8Length(kept))) + "...";
}

std::string Shown(std::span<const shell::Word> words) {
  std::string text;
  for (const shell::Word& word : words) {
    if (text.size() > kLongestSubject) break;
    text += (text.empty() ? "" : " ") + (word.source.empty() && word.value ? *word.value : word.source);
  }
  return Shortened(text);
}

shell::Word KnownWord(const std::string& text) { return {.value = text, .source = text, .known_prefix = {}}; }

bool IsHarmlessDevice(std::string_view path) {
  constexpr std::array<std::string_view, 7> kDevices = {"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr",
                                                        "/dev/zero", "/dev/full",  "/dev/tty"};
  if (std::find(kDevices.begin(), kDevices.end(), path) != kDevices.end()) return true;
  constexpr std::string_view kDescriptors = "/dev/fd/";
  return path.starts_with(kDescriptors) && path.size() > kDescriptors.size() &&
         path.find_first_not_of("0123456789", kDescriptors.size()) == std::string_view::npos;
}

// "HOST:PORT" of bash's /dev/tcp/HOST/PORT and /dev/udp/HOST/PORT, which are no files.
std::optional<std::string> HostOf(std::string_view path) {
  if (!path.starts_with("/dev/tcp/") && !path.starts_with("/dev/udp/")) return std::nullopt;
  const std::string_view rest = path.substr(9);
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  return std::string(rest.substr(0, slash)) + ":" + std::string(rest.substr(slash + 1));
}

// What a command runs in this shell, behind `command` and `builtin`.
std::span<const shell::Word> WithoutPrefixes(std::span<const shell::Word> words) {
  while (!words.empty() && (words.front().value == "command" || words.front().value == "builtin")) {
    words = words.subspan(1);
    while (!words.empty() && words.front().value && words.front().value->starts_with('-')) words = words.subspan(1);
  }
  return words;
}

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> texts) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

// Whether a function that the text defines stays what it is: nothing forgets it, or runs what could.
bool KeepsFunctions(const shell::Analysis& analysis) {
  for (const shell::SimpleCommand& command : analysis.commands) {
    const auto words = WithoutPrefixes(command.words);
    if (words.empty()) continue;
    const std::string name = words.front().value.value_or("eval");
    if (IsOneOf(name, {"unset", "eval", "trap", ".", "source", "enable", "alias", "unalias"})) return false;
  }
  return true;
}

// The folders that `cd WORDS` may lead to from each of `folders`.
std::optional<std::vector<std::string>> AfterMove(std::vector<std::string> folders,
                                                  std::span<const shell::Word> words) {
  while (!words.empty() && words.front().value && IsOneOf(*words.front().value, {"-P", "-L", "-e", "--"})) {
    words = words.subspan(1);
  }
  if (words.size() != 1 || !words.front().value || words.front().value == "-") return std::nullopt;
  const std::size_t count = folders.size();
  for (std::size_t i = 0; i < count; ++i) {
    std::string next = NormalPath(folders[i], *words.front().value);
    if (std::find(folders.begin(), folders.end(), next) == folders.end()) folders.push_back(std::move(next));
  }
  if (folders.size() > kMostFolders) return std::nullopt;
  return folders;
}

std::string InWords(const Rule& rule, Effect effect, const Verdict& verdict) {
  std::string text = "the rule " + Quoted(rule.name);
  text += effect == Effect::kAllow ? " allows it" : effect == Effect::kAsk ? " asks first" : " denies it";
  for (const Finding& finding : verdict.findings) {
    if (finding.rule == rule.name && finding.counts && !finding.why.empty()) return text + ": " + finding.why;
  }
  return text;
}

std::string_view DefaultInWords(Effect effect) {
  if (effect == Effect::kAllow) return "what no rule is about is allowed";
  return effect == Effect::kAsk ? "no rule allows it, so it is asked for" : "no rule allows it";
}

}  // namespace

CallJudge::CallJudge(const RuleSet& rules, const Situation& situation, Conditions conditions)
    : rules_(rules), situation_(situation), scales_(rules, situation, conditions) {}

void CallJudge::Decide(Effect effect, std::string rule, std::string source, std::string reason,
                       std::string alternative) {
  decided_ = true;
  decision_.effect = effect;
  decision_.rule = std::move(rule);
  decision_.source = std::move(source);
  decision_.reason = std::move(reason);
  decision_.alternative = std::move(alternative);
}

Verdict CallJudge::Weigh(std::string subject, const Matches& matches) {
  work_ += matches.looked_at;
  return scales_.Weigh(std::move(subject), matches.list);
}

bool CallJudge::TakeStep() {
  work_ += kWorkOfAPart;
  return work_ <= kMostWork;
}

void CallJudge::Note(Finding finding) {
  if (decision_.findings.size() < kMostFindings) decision_.findings.push_back(std::move(finding));
}

void CallJudge::CountCommand(const Verdict& verdict, std::string_view command, std::string_view why) {
  const bool matters = verdict.effect != Effect::kAllow && IsStricter(verdict.effect);
  Count(verdict, matters ? AlternativeTo(command, rules_) : std::string(), why);
}

void CallJudge::Count(const Verdict& verdict, Action action) {
  const bool matters = verdict.effect != Effect::kAllow && IsStricter(verdict.effect);
  Count(verdict, matters ? AlternativeTo(action, rules_) : std::string(), "");
}

void CallJudge::Count(const Verdict& verdict, std::string alternative, std::string_view why) {
  scales_.Rest(verdict);
  if (IsStricter(verdict.effect)) {
    const std::string subject = "`" + verdict.findings.front().subject + "`: ";
    if (verdict.rule != nullptr) {
      Decide(verdict.effect, verdict.rule->name, verdict.rule->source,
             subject + InWords(*verdict.rule, verdict.effect, verdict), std::move(alternative));
    } else {
      std::string reason = subject + std::string(DefaultInWords(verdict.effect));
      if (!why.empty()) reason += " (" + std::string(why) + ")";
      Decide(verdict.effect, "default", rules_.name(), std::move(reason), std::move(alternative));
    }
  }
  for (const Finding& finding : verdict.findings) Note(finding);
}

void CallJudge::CountUnknown(std::string subject, std::string_view why) {
  const Effect effect = rules_.default_effect() == Effect::kAsk ? Effect::kAsk : Effect::kDeny;
  if (IsStricter(effect)) {
    Decide(effect, "unknown_shell", "built in",
           "`" + subject + "`: what this starts cannot be told before it runs: " + std::string(why),
           AlternativeToUnknown(rules_));
  }
  Note({.subject = std::move(subject),
        .rule = "unknown_shell",
        .source = "built in",
        .effect = effect,
        .counts = true,
        .why = std::string(why)});
}

void CallJudge::JudgeVariable(std::string_view name, const std::optional<std::string>& value) {
  const auto why = WhyRefused(name, value);
  if (!why) return;
  std::string subject = "the variable " + Shortened(name);
  if (IsStricter(Effect::kDeny)) {
    Decide(Effect::kDeny, "environment", "built in", subject + " is refused: " + *why, "leave the variable out");
  }
  Note({.subject = std::move(subject),
        .rule = "environment",
        .source = "built in",
        .effect = Effect::kDeny,
        .counts = true,
        .why = *why});
}

void CallJudge::JudgeRedirection(const shell::Redirection& redirection, const Folders& folders) {
  if (!redirection.target.value) return;
  const std::string& target = *redirection.target.value;
  if (const auto host = HostOf(target)) {
    const auto matches = rules_.AboutOther(Action::kNetworkConnect, *host);
    return Count(Weigh("connect to " + Shortened(*host), matches), Action::kNetworkConnect);
  }
  const bool absolute = target.starts_with('/');
  if (target.empty() || (!absolute && (folders.moved || !folders.possible))) return;
  const std::string path = NormalPath(absolute ? "/" : folders.possible->front(), target);
  if (IsHarmlessDevice(path)) return;
  const auto judge = [this, &path](Action action, const char* verb) {
    if (!TakeStep()) return CountUnknown(verb + Shortened(path), "the call has too many parts");
    Count(Weigh(verb + Shortened(path), rules_.AboutFile(action, path)), action);
  };
  if (redirection.direction != shell::Direction::kWrite) judge(Action::kFileRead, "read ");
  if (redirection.direction != shell::Direction::kRead) judge(Action::kFileWrite, "write ");
}

// Of the folders in which a relative path may be looked for, those in which nothing is do not count while there is one.
Verdict CallJudge::WeighProgram(Words words, const Folders& folders, std::string* why) {
  const std::string& name = *words.front().value;
  std::vector<Program> programs;
  if (name.find('/') == std::string::npos || name.front() == '/' || !folders.possible) {
    programs.push_back(ProgramOf(name, std::nullopt, situation_.resolve));
  } else {
    for (const std::string& folder : *folders.possible) {
      programs.push_back(ProgramOf(name, folder, situation_.resolve));
    }
    const auto exists = [](const Program& program) { return !program.target.empty(); };
    if (std::any_of(programs.begin(), programs.end(), exists)) {
      std::erase_if(programs, [](const Program& program) { return program.target.empty(); });
    }
  }
  std::optional<Verdict> strictest;
  for (const Program& program : programs) {
    Verdict verdict = Weigh(Shown(words), rules_.About(program, words.subspan(1)));
    if (strictest && verdict.effect <= strictest->effect) continue;
    strictest = std::move(verdict);
    *why = program.why;
  }
  return *std::move(strictest);
}

void CallJudge::JudgeProgram(Words words, const Folders& folders) {
  if (words.empty()) return;
  if (!TakeStep()) return CountUnknown(Shown(words), "the call has too many parts");
  if (!words.front().value) return CountUnknown(Shown(words), "the name of a command is known only when it runs");
  const std::string& name = *words.front().value;
  std::string why;
  CountCommand(WeighProgram(words, folders, &why), name, why);
  if (depth_ >= kMostDepth) return CountUnknown(Shown(words), "too many commands start each other");
  ++depth_;
  for (const Inside& inside : InsideOf(LastPart(name), words.subspan(1))) JudgeInside(inside, folders);
  --depth_;
}

void CallJudge::JudgeInside(const Inside& inside, const Folders& folders) {
  const Folders here = inside.moves ? Folders{.possible = std::nullopt, .moved = true} : folders;
  for (const shell::Assignment& variable : inside.variables) JudgeVariable(variable.name, variable.value.value);
  switch (inside.kind) {
    case Inside::Kind::kWords:
      return JudgeProgram(inside.words, here);
    case Inside::Kind::kBashText:
    case Inside::Kind::kShText:
      return JudgeText(inside.text, here);
    case Inside::Kind::kUnknown:
      return CountUnknown(inside.text, "it may start anything");
  }
}

void CallJudge::JudgeBuiltin(Words words, const BuiltinUse& use, const Folders& folders) {
  for (const shell::Assignment& variable : use.variables) JudgeVariable(variable.name, variable.value.value);
  std::string why;
  switch (use.kind) {
    case BuiltinUse::Kind::kSteers:
      return;
    case BuiltinUse::Kind::kNeedsRule:
      return CountCommand(WeighProgram(words, folders, &why), *words.front().value, "it is a builtin that writes");
    case BuiltinUse::Kind::kNeedsNamed: {
      const Verdict verdict = WeighProgram(words, folders, &why);
      if (verdict.rule == nullptr && verdict.effect == Effect::kAllow) {
        return CountUnknown(Shown(words), "it can run or redefine anything");
      }
      return CountCommand(verdict, *words.front().value, "it is a builtin that can run or redefine anything");
    }
    case BuiltinUse::Kind::kRunsWords:
      return words.front().value == "exec" ? JudgeProgram(use.words, folders) : JudgeShellWords(use.words, folders);
    case BuiltinUse::Kind::kRunsText:
      return JudgeText(use.text, folders);
    case BuiltinUse::Kind::kUnprovable:
      return CountUnknown(Shown(words), use.why);
  }
}

void CallJudge::JudgeShellWords(Words words, const Folders& folders) {
  if (words.empty()) return;
  const auto& name = words.front().value;
  const auto use = name ? UseOfBuiltin(*name, words.subspan(1)) : std::nullopt;
  if (!use) return JudgeProgram(words, folders);
  if (!TakeStep() || depth_ >= kMostDepth) return CountUnknown(Shown(words), "the call has too many parts");
  ++depth_;
  JudgeBuiltin(words, *use, folders);
  --depth_;
}

void CallJudge::JudgeSimple(const shell::SimpleCommand& command, const Folders& folders, bool trusts_functions) {
  const bool reads = !command.words.empty() && command.words.front().value == "read";
  for (const shell::Assignment& variable : command.assignments) {
    if (reads && variable.name == "IFS") continue;  // it holds for this `read` alone
    JudgeVariable(variable.name, variable.value.value);
  }
  for (const shell::Redirection& redirection : command.redirections) JudgeRedirection(redirection, folders);
  if (command.calls_function && trusts_functions) return;  // what it does stands in the text, and is judged there
  JudgeShellWords(command.words, folders);
}

void CallJudge::JudgeText(std::string_view text, const Folders& folders) {
  if (depth_ >= kMostDepth) return CountUnknown(Shortened(text), "too many texts inside each other");
  const shell::Analysis analysis = shell::Analyze(text);
  Folders here = folders;
  for (const shell::SimpleCommand& command : analysis.commands) {
    const Words words = WithoutPrefixes(command.words);
    if (words.empty()) continue;
    const std::string name = words.front().value.value_or("");
    if (name == "cd" && here.possible) {
      here.possible = AfterMove(*std::move(here.possible), words.subspan(1));
      here.moved = true;
    } else if (IsOneOf(name, {"pushd", "popd", "eval", "trap", ".", "source"})) {
      here = {.possible = std::nullopt, .moved = true};
    }
  }
  ++depth_;
  const bool trusts_functions = KeepsFunctions(analysis);
  for (const shell::SimpleCommand& command : analysis.commands) JudgeSimple(command, here, trusts_functions);
  --depth_;
  if (analysis.unknown) {
    const std::size_t at = std::min(analysis.unknown->offset, text.size());
    CountUnknown(Shortened(text.substr(at)), analysis.unknown->what);
  }
}

void CallJudge::TakeWhatEnds() {
  if (decision_.effect == Effect::kDeny) return;
  decision_.lent = scales_.lent();
  decision_.stop = scales_.stop();
}

Decision CallJudge::Judge(const CommandCall& call) {
  if (rules_.allows_everything()) {
    Decide(Effect::kAllow, "default", rules_.name(), "the policy allows everything", "");
    return std::move(decision_);
  }
  for (const auto& [name, value] : call.env) JudgeVariable(name, value);
  const Folders folders{.possible = std::vector<std::string>{NormalPath("/", call.cwd)}, .moved = false};
  if (call.text) {
    JudgeText(*call.text, folders);
  } else if (!call.argv.empty()) {
    std::vector<shell::Word> words;
    words.reserve(call.argv.size());
    for (const std::string& word : call.argv) words.push_back(KnownWord(word));
    JudgeProgram(words, folders);
  }
  if (!decided_) Decide(Effect::kAllow, "shell", "built in", "it starts no program and writes nothing", "");
  TakeWhatEnds();
  return std::move(decision_);
}

Decision CallJudge::Judge(Action action, std::string subject, const Matches& matches) {
  Count(Weigh(std::move(subject), matches), action);
  TakeWhatEnds();
  return std::move(decision_);
}

}  // namespace caisson::policy
