#include "caisson/shell/findings.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "caisson/shell/functions.h"

namespace caisson::shell {

void Findings::Fail(std::string what, std::size_t offset) {
  if (!failed()) analysis_.unknown = Unknown{.what = std::move(what), .offset = offset};
}

std::size_t Findings::Reserve(std::size_t offset) {
  if (count() == kMostCommands) Fail("more commands than are looked at", offset);
  analysis_.commands.emplace_back().offset = offset;
  return count() - 1;
}

void Findings::Enter(std::size_t offset) {
  ++depth_;
  if (depth_ > kMostDepth) return Fail("constructs too deep inside each other", offset);
  analysis_.depth = std::max(analysis_.depth, depth_);
}

void Findings::Charge(std::size_t bytes, std::size_t offset) {
  if (bytes > allowance_) return Fail("text too often inside other text", offset);
  allowance_ -= bytes;
}

void Findings::MarkCalls() {
  if (functions_.empty() || failed() || !KeepsFunctions(analysis_.commands)) return;
  std::unordered_map<std::string_view, std::size_t> since;
  for (const Function& function : functions_) since.emplace(function.name, function.since);
  for (std::size_t at = 0; at < count(); ++at) {
    SimpleCommand& command = analysis_.commands[at];
    if (command.words.empty() || !command.words.front().value) continue;
    const auto found = since.find(*command.words.front().value);
    command.calls_function = found != since.end() && at >= found->second;
  }
}

Analysis Findings::Take() {
  MarkCalls();
  if (failed()) {  // some places were never filled, and the last may be beyond the limit
    std::erase_if(analysis_.commands, [](const SimpleCommand& command) {
      return command.words.empty() && command.assignments.empty() && command.redirections.empty();
    });
    analysis_.commands.resize(std::min(count(), kMostCommands));
  }
  return std::move(analysis_);
}

}  // namespace caisson::shell
