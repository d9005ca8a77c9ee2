#pragma once

#include <optional>

#include "caisson/hint/hint.h"

namespace caisson::hint {

// One rule for each code, each without effect: the hint when the evidence is there. The order in which they apply is in
// hint.cc.
std::optional<Hint> DeniedByPolicy(const Evidence& evidence);
std::optional<Hint> TooComplexCommand(const Evidence& evidence);
std::optional<Hint> CommandNotFound(const Evidence& evidence);
std::optional<Hint> MissingPythonModule(const Evidence& evidence);
std::optional<Hint> PermissionDenied(const Evidence& evidence);
std::optional<Hint> ReadOnlyPath(const Evidence& evidence);
std::optional<Hint> DiskFull(const Evidence& evidence);
std::optional<Hint> OutOfMemory(const Evidence& evidence);
std::optional<Hint> TooManyProcesses(const Evidence& evidence);
std::optional<Hint> TimedOutWaitingForInput(const Evidence& evidence);
std::optional<Hint> TimedOut(const Evidence& evidence);
std::optional<Hint> NetworkBlocked(const Evidence& evidence);
std::optional<Hint> OutputTruncated(const Evidence& evidence);
std::optional<Hint> NonUtf8Output(const Evidence& evidence);
std::optional<Hint> EmptyOutput(const Evidence& evidence);

}  // namespace caisson::hint
