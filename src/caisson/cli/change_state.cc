#include "caisson/base/utf8.h"
#include "caisson/cli/commands.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/node.h"
#include "caisson/cli/reply_json.h"
#include "caisson/client/sandboxes.h"

namespace caisson::cli {
namespace {

Result<client::SandboxView> Change(const CommandLine& line, const Environment& environment) {
  CAISSON_TRY(const client::Endpoint endpoint, ReachNode(line, environment));
  client::Http http(endpoint);
  return client::ChangeSandbox(http, line.operands.front(), CommandOf(line.command).name);
}

}  // namespace

int ChangeStateCommand(const CommandLine& line, const Environment& environment) {
  const bool json = line.Has(Option::kJson);
  const Result<client::SandboxView> changed = Change(line, environment);
  if (changed) {
    const std::string text = changed->id + " is " + changed->state;
    return PrintOrFail(json ? ReplyLine(changed->json) : Printable(text) + "\n", kSuccess, kFailed);
  }
  PrintError(changed.error(), json ? Format::kJson : Format::kText);
  return kFailed;
}

}  // namespace caisson::cli
