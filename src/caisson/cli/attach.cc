#include "caisson/cli/command_lookup.h"
#include "caisson/cli/command_outcome.h"
#include "caisson/cli/command_session.h"
#include "caisson/cli/commands.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/node.h"

namespace caisson::cli {
namespace {

Result<int> Attach(const CommandLine& line, const Environment& environment) {
  CAISSON_TRY(const client::Endpoint endpoint, ReachNode(line, environment));
  client::Http http(endpoint);
  CAISSON_TRY(const client::CommandView command, FindCommand(http, line.operands[0], line.operands[1]));
  SignalWatch signals;
  CAISSON_CHECK_OK(signals.Begin());
  const Session session{.endpoint = endpoint,
                        .sandbox = command.sandbox.empty() ? line.operands[0] : command.sandbox,
                        .command = command.id,
                        .input = line.Has(Option::kNoStdin) ? -1 : InputToForward(),
                        .second = SecondInterrupt::kLeaves};
  CAISSON_TRY(const client::Followed followed, FollowCommand(session, signals));
  if (!followed.result) return sandbox::ExitStatus(sandbox::Cancelled{});
  const std::string program = command.argv.empty() ? std::string() : command.argv.front();
  for (const std::string& notice : ResultNotices(*followed.result, program, command.timeout)) PrintNotice(notice);
  return sandbox::ExitStatus(OutcomeOf(*followed.result));
}

}  // namespace

int AttachCommand(const CommandLine& line, const Environment& environment) {
  const Result<int> status = Attach(line, environment);
  if (status) return *status;
  PrintError(status.error(), Format::kText);
  return kRunFailed;
}

}  // namespace caisson::cli
