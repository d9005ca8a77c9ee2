#include "caisson/cli/command_lookup.h"
#include "caisson/cli/command_session.h"
#include "caisson/cli/commands.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/node.h"
#include "caisson/cli/reply_json.h"

namespace caisson::cli {
namespace {

Result<int> Logs(const CommandLine& line, const Environment& environment) {
  CAISSON_TRY(const client::Endpoint endpoint, ReachNode(line, environment));
  client::Http http(endpoint);
  const auto given = line.operands.size() > 1 ? std::optional(line.operands[1]) : std::nullopt;
  CAISSON_TRY(const client::CommandView command, FindCommand(http, line.operands[0], given));
  const std::string& sandbox = command.sandbox.empty() ? line.operands[0] : command.sandbox;
  const bool json = line.Has(Option::kJson);
  if (!json || line.Has(Option::kFollow)) {
    const client::OutputSink nowhere{[](client::Stream, std::string_view) -> Status { return {}; },
                                     [](client::Stream, std::uint64_t) {}};
    client::FollowOptions options;
    options.wait = line.Has(Option::kFollow);
    CAISSON_TRY(const client::Followed followed,
                client::FollowOutput(endpoint, sandbox, command.id, options, json ? nowhere : StandardStreams()));
    (void)followed;
  }
  if (!json) return kSuccess;
  CAISSON_TRY(const client::CommandView now, client::GetCommand(http, sandbox, command.id));
  return PrintOrFail(ReplyLine(now.json), kSuccess, kFailed);
}

}  // namespace

int LogsCommand(const CommandLine& line, const Environment& environment) {
  const Result<int> status = Logs(line, environment);
  if (status) return *status;
  PrintError(status.error(), line.Has(Option::kJson) ? Format::kJson : Format::kText);
  return kFailed;
}

}  // namespace caisson::cli
