#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/shell/shell.h"

namespace caisson::shell {

// What one analysis has found, wherever in the text it reads. After the first failure nothing more is found: every scan
// is at its end.
class Findings {
 public:
  explicit Findings(std::string_view text) : allowance_(kCopiesOfText * text.size() + kLeastAllowance) {}

  bool failed() const { return analysis_.unknown.has_value(); }
  void Fail(std::string what, std::size_t offset);

  // The place of a command, taken before what stands inside it takes its own.
  std::size_t Reserve(std::size_t offset);
  SimpleCommand& command(std::size_t place) { return analysis_.commands[place]; }
  std::size_t count() const { return analysis_.commands.size(); }

  void Enter(std::size_t offset);
  void Leave() { --depth_; }
  std::size_t depth() const { return depth_; }

  // Bytes that are copied or read once more. Bounds them, however deep here-documents and substitutions lie.
  void Charge(std::size_t bytes, std::size_t offset);

  // From here on `name` is a function, whatever ran before.
  void Define(std::string_view name) { functions_.push_back({.name = std::string(name), .since = count()}); }

  // The end: marks the calls of functions.
  Analysis Take();

 private:
  struct Function {
    std::string name;
    std::size_t since = 0;  // the first command that runs after the definition
  };

  static constexpr std::size_t kCopiesOfText = 16;
  static constexpr std::size_t kLeastAllowance = std::size_t{1} << 18U;

  void MarkCalls();

  Analysis analysis_;
  std::size_t depth_ = 0;
  std::size_t allowance_;
  std::vector<Function> functions_;
};

}  // namespace caisson::shell
