#include "caisson/cli/outcome_line.h"

#include <signal.h>

#include <cstring>
#include <variant>

#include "caisson/base/signal_name.h"
#include "caisson/base/utf8.h"

namespace caisson::cli {
namespace {

struct Describe {
  const RunRequest& request;
  const std::optional<sandbox::DecisionNote>& decision;

  std::string operator()(const sandbox::Exited&) const { return ""; }
  std::string operator()(const sandbox::Signaled& signaled) const {
    if (signaled.signal == SIGINT || signaled.signal == SIGPIPE) return "";
    return "the command was ended by " + SignalName(signaled.signal);
  }
  std::string operator()(const sandbox::TimedOut&) const {
    return "the command timed out after " + FormatDuration(request.timeout);
  }
  std::string operator()(const sandbox::OutOfMemory&) const {
    return "the command was ended at its memory limit of " + FormatBytes(request.limits.memory);
  }
  std::string operator()(const sandbox::Cancelled&) const {
    return decision && decision->effect == "deny" ? "the policy stopped it" + Why() : "the command was cancelled";
  }
  std::string operator()(const sandbox::FailedToStart& failure) const {
    const std::string program = Quoted(request.argv.front());
    if (failure.reason == sandbox::FailedToStart::Reason::kNotFound) {
      return "the command " + program + " was not found in the sandbox";
    }
    const std::string cause = failure.errno_value != 0 ? std::string(": ") + strerror(failure.errno_value) : "";
    if (failure.reason == sandbox::FailedToStart::Reason::kNotExecutable) {
      return "the command " + program + " cannot be executed" + cause;
    }
    return "the command " + program + " did not start (" + failure.step + ")" + cause;
  }
  std::string operator()(const sandbox::Denied&) const { return "the policy refuses it" + Why(); }
  std::string operator()(const sandbox::NeedsApproval&) const { return "the policy wants it approved" + Why(); }

  std::string operator()(const sandbox::Completed&) const { return ""; }

  std::string Why() const {
    if (!decision) return "";
    return (decision->reason.empty() ? "" : ": " + Printable(decision->reason)) + " (rule " +
           Printable(decision->rule) + ", " + Printable(decision->source) + ")";
  }
};

}  // namespace

std::string OutcomeLine(const sandbox::Outcome& outcome, const RunRequest& request,
                        const std::optional<sandbox::DecisionNote>& decision) {
  return std::visit(Describe{request, decision}, outcome);
}

std::string UsageLine(const sandbox::CommandResult& result) {
  const auto milliseconds = [](std::chrono::nanoseconds span) {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(span).count()) + "ms";
  };
  std::string line = std::string(sandbox::OutcomeName(result.outcome)) + " after " + milliseconds(result.duration) +
                     ", cpu " + milliseconds(result.cpu);
  if (result.memory_peak_bytes) line += ", memory peak " + std::to_string(*result.memory_peak_bytes) + " bytes";
  return line;
}

}  // namespace caisson::cli
