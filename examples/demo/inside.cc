#include "inside.h"

#include <signal.h>

namespace caisson::demo {
namespace {

bool WasInterrupted(const sandbox::Outcome& outcome) {
  const auto* signaled = std::get_if<sandbox::Signaled>(&outcome);
  return std::holds_alternative<sandbox::Cancelled>(outcome) || (signaled != nullptr && signaled->signal == SIGINT);
}

}  // namespace

Result<sandbox::CommandResult> Inside::Run(const std::vector<std::string>& argv, const Options& options) {
  report_.Command("", argv);
  sandbox::CommandSpec spec;
  spec.argv = argv;
  // A file that is edited twice within a second would leave a stale compiled copy.
  spec.env = {{"PYTHONPATH", "src"}, {"PYTHONDONTWRITEBYTECODE", "1"}};
  spec.cwd = options.cwd;
  spec.user = options.user;
  spec.timeout = std::chrono::seconds(60);
  CAISSON_TRY(sandbox::Command command, sandbox_.Start(spec));
  sandbox::Attachment attachment;
  interrupts_.ConnectTo(attachment);
  CAISSON_TRY(sandbox::CommandResult result, command.Wait(attachment));
  report_.Tail(result.out.kept, options.shown_lines);
  report_.Tail(result.err.kept, options.shown_lines);
  report_.Used(options.name, result);
  if (WasInterrupted(result.outcome)) return Fail(Error(Code::kUnavailable, "interrupted"));
  return result;
}

}  // namespace caisson::demo
