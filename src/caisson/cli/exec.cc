#include "caisson/base/utf8.h"
#include "caisson/cli/agent_policy.h"
#include "caisson/cli/command_outcome.h"
#include "caisson/cli/command_session.h"
#include "caisson/cli/commands.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/exec_request.h"
#include "caisson/cli/node.h"
#include "caisson/cli/reply_json.h"

namespace caisson::cli {
namespace {

int PrintResult(const client::ResultView& result, const ExecRequest& request, const client::CommandView& command) {
  const int status = sandbox::ExitStatus(OutcomeOf(result));
  if (request.output == Output::kJson) return PrintOrFail(ReplyLine(result.json), status, kRunFailed);
  if (request.notices == Notices::kQuiet) return status;
  for (const std::string& line : ResultNotices(result, request.start.argv.front(), command.timeout)) PrintNotice(line);
  return status;
}

Result<int> Exec(const CommandLine& line, const Environment& environment) {
  CAISSON_TRY(ExecRequest request, ReadExecRequest(line));
  if (const OptionValue* policy = line.Find(Option::kExecPolicy)) {
    CAISSON_TRY(request.start.policy, PolicyTextOf(policy->text));
  }
  CAISSON_TRY(const client::Endpoint endpoint, ReachNode(line, environment));
  const bool is_background = request.ends == Ends::kInBackground;
  const int input = request.forward == Forward::kInput ? InputToForward() : -1;
  // What runs in the background may be given input later.
  request.start.input =
      input >= 0 || (is_background && !line.Has(Option::kNoStdin)) ? client::Input::kOpen : client::Input::kNone;

  // Before the command runs: a signal that comes while it starts must not leave it behind.
  SignalWatch signals;
  CAISSON_CHECK_OK(signals.Begin());
  client::Http http(endpoint);
  CAISSON_TRY(const client::CommandView command, client::StartCommand(http, request.sandbox, request.start));
  if (is_background) {
    const bool json = request.output == Output::kJson;
    return PrintOrFail(json ? ReplyLine(command.json) : Printable(command.id) + "\n", kSuccess, kRunFailed);
  }
  // By its id, not by what the caller wrote: a name may come to mean another sandbox.
  const Session session{.endpoint = endpoint,
                        .sandbox = command.sandbox.empty() ? request.sandbox : command.sandbox,
                        .command = command.id,
                        .output = request.output == Output::kJson ? ShowOutput::kNo : ShowOutput::kYes,
                        .input = input};
  Result<client::Followed> followed = FollowCommand(session, signals);
  if (!followed) {
    return Fail(std::move(followed).error().Context("the command " + command.id + " may still run"));
  }
  if (!followed->result) {
    return Fail(Error(Code::kUnavailable, "the command " + command.id + " could not be cancelled")
                    .Because("the node does not answer")
                    .Remedy("see with `caisson inspect` whether it still runs"));
  }
  return PrintResult(*followed->result, request, command);
}

}  // namespace

int ExecCommand(const CommandLine& line, const Environment& environment) {
  const Result<int> status = Exec(line, environment);
  if (status) return *status;
  PrintError(status.error(), line.Has(Option::kJson) ? Format::kJson : Format::kText);
  return kRunFailed;
}

}  // namespace caisson::cli
