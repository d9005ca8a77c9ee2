#include "caisson/hint/hint.h"

#include <array>
#include <optional>

#include "caisson/hint/rules.h"

namespace caisson::hint {
namespace {

using Rule = std::optional<Hint> (*)(const Evidence&);

// First what names its cause most exactly, last what is only worth knowing.
constexpr std::array<Rule, 15> kRules = {
    DeniedByPolicy,
    TooComplexCommand,
    CommandNotFound,
    MissingPythonModule,
    OutOfMemory,
    DiskFull,
    TooManyProcesses,
    ReadOnlyPath,
    PermissionDenied,
    NetworkBlocked,
    TimedOutWaitingForInput,
    TimedOut,
    OutputTruncated,
    NonUtf8Output,
    EmptyOutput,
};

}  // namespace

std::vector<Hint> FindHints(const Evidence& evidence) {
  std::vector<Hint> hints;
  for (const Rule rule : kRules) {
    if (std::optional<Hint> hint = rule(evidence)) hints.push_back(*std::move(hint));
  }
  return hints;
}

}  // namespace caisson::hint
