#include "caisson/cli/command_outcome.h"

#include <signal.h>

#include <algorithm>

#include "caisson/base/signal_name.h"
#include "caisson/cli/outcome_line.h"

namespace caisson::cli {
namespace {

bool HasHint(const client::ResultView& result, std::string_view code) {
  return std::any_of(result.hints.begin(), result.hints.end(),
                     [&](const client::HintView& hint) { return hint.code == code; });
}

sandbox::FailedToStart WhyNotStarted(const client::ResultView& result) {
  using Reason = sandbox::FailedToStart::Reason;
  sandbox::FailedToStart failure;
  failure.step = "start";
  if (HasHint(result, "command_not_found")) failure.reason = Reason::kNotFound;
  if (HasHint(result, "permission_denied")) failure.reason = Reason::kNotExecutable;
  return failure;
}

}  // namespace

sandbox::Outcome OutcomeOf(const client::ResultView& result) {
  if (result.outcome == "exited" && result.exit_code) return sandbox::Exited{*result.exit_code};
  if (result.outcome == "signaled") {
    return sandbox::Signaled{ParseSignal(result.signal.value_or("")).value_or(SIGKILL)};
  }
  if (result.outcome == "timed_out") return sandbox::TimedOut{};
  if (result.outcome == "out_of_memory") return sandbox::OutOfMemory{};
  if (result.outcome == "cancelled") return sandbox::Cancelled{};
  if (result.outcome == "denied") return sandbox::Denied{};
  if (result.outcome == "needs_approval") return sandbox::NeedsApproval{};
  return WhyNotStarted(result);
}

std::vector<std::string> ResultNotices(const client::ResultView& result, const std::string& program,
                                       std::chrono::milliseconds timeout) {
  std::vector<std::string> lines;
  const sandbox::Outcome outcome = OutcomeOf(result);
  RunRequest request;
  request.argv = {program};
  request.timeout = timeout;
  std::optional<sandbox::DecisionNote> decision;
  if (result.decision) {
    decision = sandbox::DecisionNote{.effect = result.decision->effect,
                                     .rule = result.decision->rule,
                                     .source = result.decision->source,
                                     .reason = result.decision->reason};
  }
  const bool is_out_of_memory = std::holds_alternative<sandbox::OutOfMemory>(outcome);
  const std::string line = is_out_of_memory ? "the command was ended at the memory limit of the sandbox"
                                            : OutcomeLine(outcome, request, decision);
  if (!line.empty()) lines.push_back(line);
  for (const client::HintView& hint : result.hints) lines.push_back("hint: " + hint.message + " " + hint.suggestion);
  return lines;
}

}  // namespace caisson::cli
