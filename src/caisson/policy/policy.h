#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/document/document.h"
#include "caisson/policy/rule.h"

namespace caisson::policy {

class RuleSet;
class ZoneSource;

// What an agent may do: an immutable value. Copies are cheap. Thread-safe.
class Policy {
 public:
  // Strict: an unknown or repeated key, a value that means nothing, an example (`match`, `not_match`) that does not
  // hold, a zone without data (kUnsupported, with the package that brings it), a rule that no kernel could enforce
  // without `enforcement = "tool"`: kInvalidArgument with the place in the file and what was meant. At most kMostRules
  // rules. An example is a text for bash in the workspace. The whole policy decides it, with every rule's window, dates
  // and uses taken to hold. `match`: the decision is this rule's effect, and this rule is among those that counted.
  // `not_match`: it is not so.
  static Result<Policy> Read(std::string_view text, document::Format format, std::string_view file,
                             const ZoneSource& zones);
  // open, standard, minimal, read_only or strict. Errors: kInvalidArgument, with the nearest name.
  static Result<Policy> Preset(std::string_view name);
  static const std::vector<std::string_view>& PresetNames();

  const std::string& name() const;  // of the preset, or of the file
  Effect default_effect() const;
  const std::vector<Rule>& rules() const;
  // Nothing is denied or asked for: what `open` is. No kernel plan is needed then.
  bool allows_everything() const;
  // SHA-256 of what it says, in hexadecimal: equal policies have equal ones, whatever their files look like. Uses of a
  // rule are counted under it.
  const std::string& digest() const;
  // The text it was read from, or of the preset as a file: reading it gives an equal policy.
  const std::string& text() const;
  document::Format format() const;
  // The rules with what finds them, for deciding.
  const RuleSet& rule_set() const;

 private:
  struct Content;
  explicit Policy(std::shared_ptr<const Content> content) : content_(std::move(content)) {}
  std::shared_ptr<const Content> content_;  // shared by copies, immutable
};

inline constexpr std::size_t kMostRules = 20'000;

}  // namespace caisson::policy
