#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/policy/builtin.h"
#include "caisson/policy/decide.h"
#include "caisson/policy/verdict.h"
#include "caisson/policy/wrapper.h"
#include "caisson/shell/shell.h"

namespace caisson::policy {

// Judges one call, part by part. The strictest part decides.
class CallJudge {
 public:
  // All are borrowed.
  CallJudge(const RuleSet& rules, const Situation& situation, Conditions conditions);

  Decision Judge(const CommandCall& call);
  // Of one subject of `action` alone.
  Decision Judge(Action action, std::string subject, const Matches& matches);

 private:
  // The folders that a command of a text may stand in; absent: not known. `moved`: the text has a `cd`.
  struct Folders {
    std::optional<std::vector<std::string>> possible;
    bool moved = false;
  };
  using Words = std::span<const shell::Word>;

  void JudgeText(std::string_view text, const Folders& folders);
  void JudgeSimple(const shell::SimpleCommand& command, const Folders& folders, bool trusts_functions);
  // Words for bash, whose builtins come before programs.
  void JudgeShellWords(Words words, const Folders& folders);
  void JudgeBuiltin(Words words, const BuiltinUse& use, const Folders& folders);
  void JudgeProgram(Words words, const Folders& folders);
  void JudgeInside(const Inside& inside, const Folders& folders);
  void JudgeRedirection(const shell::Redirection& redirection, const Folders& folders);
  void JudgeVariable(std::string_view name, const std::optional<std::string>& value);
  Verdict WeighProgram(Words words, const Folders& folders, std::string* why);
  Verdict Weigh(std::string subject, const Matches& matches);
  // Whether one more part may be judged.
  bool TakeStep();

  // `why`: more about what no rule allows.
  void CountCommand(const Verdict& verdict, std::string_view command, std::string_view why);
  void Count(const Verdict& verdict, Action action);
  void Count(const Verdict& verdict, std::string alternative, std::string_view why);
  void CountUnknown(std::string subject, std::string_view why);
  void Note(Finding finding);
  // What the decision says of rules that end, or are used up.
  void TakeWhatEnds();
  // Whether a part of this effect is the one that decides so far.
  bool IsStricter(Effect effect) const { return !decided_ || effect > decision_.effect; }
  void Decide(Effect effect, std::string rule, std::string source, std::string reason, std::string alternative);

  const RuleSet& rules_;
  const Situation& situation_;
  Scales scales_;
  Decision decision_;
  bool decided_ = false;
  std::size_t depth_ = 0;
  std::size_t work_ = 0;
};

}  // namespace caisson::policy
