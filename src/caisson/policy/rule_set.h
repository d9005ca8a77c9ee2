#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "caisson/policy/program.h"
#include "caisson/policy/rule.h"
#include "caisson/shell/shell.h"

namespace caisson::policy {

// A rule that is about something; `why_not`: what of its flags keeps it from counting.
struct Match {
  const Rule* rule = nullptr;
  std::string why_not;
};

struct Matches {
  std::vector<Match> list;    // in the file's order
  std::size_t looked_at = 0;  // patterns that were compared: what finding them took
};

// The rules of a policy, and where to find those that are about a call: in time that does not grow with the rules that
// begin with other words. Immutable; what it hands out points into it.
class RuleSet {
 public:
  // `name`: of the policy.
  RuleSet(std::string name, Effect default_effect, std::vector<Rule> rules);

  const std::string& name() const { return name_; }
  Effect default_effect() const { return default_effect_; }
  const std::vector<Rule>& rules() const { return rules_; }
  bool allows_everything() const { return allows_everything_; }
  // The first words that rules allow, each once, in the file's order; of many the first.
  const std::vector<std::string>& allowed_commands() const { return allowed_commands_; }
  static constexpr std::size_t kMostNamed = 40;

  // `arguments`: without the command word.
  Matches About(const Program& program, std::span<const shell::Word> arguments) const;
  Matches AboutFile(Action action, std::string_view path) const;
  // `what`: as of DecideOther.
  Matches AboutOther(Action action, std::string_view what) const;
  // Whether a rule that allows names this program, at whatever time and with whatever arguments.
  bool AllowsProgram(std::string_view name) const;

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  template <typename Found>
  using ByText = std::unordered_map<std::string, Found, TextHash, std::equal_to<>>;
  struct Place {
    std::uint32_t rule = 0;
    std::uint32_t pattern = 0;
    auto operator<=>(const Place&) const = default;
  };
  struct ByWord {
    std::vector<Place> whole;           // of one word
    ByText<std::vector<Place>> longer;  // by the second word
    std::vector<Place> strict;          // of these those of rules that ask or deny, which words may mean unseen
  };

  void IndexCommands(std::uint32_t rule);
  void IndexPaths(std::uint32_t rule);
  void Collect(std::string_view first, std::span<const shell::Word> arguments, std::vector<Place>& found) const;

  std::string name_;
  Effect default_effect_;
  std::vector<Rule> rules_;
  bool allows_everything_ = false;
  std::vector<std::string> allowed_commands_;
  ByText<ByWord> by_first_word_;  // a name, or an absolute path
  std::vector<Place> of_workspace_programs_;
  ByText<std::vector<std::uint32_t>> by_path_, by_folder_;
  std::vector<std::uint32_t> of_globs_, of_others_;
};

}  // namespace caisson::policy
