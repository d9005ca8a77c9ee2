#include "caisson/base/utf8.h"
#include "caisson/cli/commands.h"
#include "caisson/cli/create_request.h"
#include "caisson/cli/deposit.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/node.h"
#include "caisson/cli/reply_json.h"

namespace caisson::cli {
namespace {

Result<client::SandboxView> Create(const CommandLine& line, const Environment& environment) {
  CAISSON_TRY(CreateOptions options, ReadCreateOptions(line));
  CAISSON_TRY(const client::Endpoint endpoint, ReachNode(line, environment));
  if (options.image_directory) {
    CAISSON_TRY(options.request.image_ticket, Deposit(endpoint, *options.image_directory, FolderUse::kImage));
  }
  if (options.workspace) {
    CAISSON_TRY(options.request.workspace_ticket, Deposit(endpoint, options.workspace->path, FolderUse::kWorkspace));
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
