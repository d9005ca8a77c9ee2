#include <vector>

#include "caisson/base/utf8.h"
#include "caisson/cli/agent_policy.h"
#include "caisson/cli/commands.h"
#include "caisson/cli/create_request.h"
#include "caisson/cli/deposit.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/node.h"
#include "caisson/cli/reply_json.h"
#include "caisson/cli/template_values.h"

namespace caisson::cli {
namespace {

Result<client::SandboxView> Create(const CommandLine& line, const Environment& environment) {
  CAISSON_TRY(const EffectiveValues values, UsableValues(line));
  CAISSON_TRY(CreateOptions options, ReadCreateOptions(values.line));
  CAISSON_TRY(options.request.policy, AgentPolicy(line, values));
  if (!line.Has(Option::kAgentPolicy) && values.policy)
    options.request.sources["policy"] = ShownSource(values.policy->source);
  if (!line.Has(Option::kJson)) {
    for (const std::string& notice : NoticesOf(values)) PrintNotice(notice);
  }
  CAISSON_TRY(const client::Endpoint endpoint, ReachNode(line, environment));
  std::vector<sandbox::FolderDeposit> deposits;  // until the sandbox is made
  if (options.image_directory) {
    CAISSON_TRY(sandbox::FolderDeposit image, DepositImage(endpoint, *options.image_directory));
    options.request.image_ticket = image.ticket();
    deposits.push_back(std::move(image));
  }
  if (options.workspace) {
    const Notices notices = line.Has(Option::kJson) || line.Has(Option::kQuiet) ? Notices::kQuiet : Notices::kNormal;
    CAISSON_TRY(sandbox::FolderDeposit workspace, DepositWorkspace(endpoint, *options.workspace, notices));
    options.request.workspace_ticket = workspace.ticket();
    deposits.push_back(std::move(workspace));
  }
  client::Http http(endpoint);
  return client::CreateSandbox(http, options.request);
}

}  // namespace

int CreateCommand(const CommandLine& line, const Environment& environment) {
  const bool json = line.Has(Option::kJson);
  const Result<client::SandboxView> made = Create(line, environment);
  if (made) return PrintOrFail(json ? ReplyLine(made->json) : Printable(made->id) + "\n", kSuccess, kFailed);
  PrintError(made.error(), json ? Format::kJson : Format::kText);
  return kFailed;
}

}  // namespace caisson::cli
