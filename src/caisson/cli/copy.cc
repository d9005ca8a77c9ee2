#include "caisson/cli/commands.h"
#include "caisson/cli/copy_in.h"
#include "caisson/cli/copy_out.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/node.h"
#include "caisson/client/sandboxes.h"

namespace caisson::cli {
namespace {

Status Copy(const CommandLine& line, const Environment& environment, CopyReport& report) {
  CAISSON_TRY(CopyRequest request, ReadCopyRequest(line));
  CAISSON_TRY(const client::Endpoint endpoint, ReachNode(line, environment));
  client::Http http(endpoint);
  // By its id from here on: a name may come to mean another sandbox. An unknown one is said before anything else.
  CAISSON_TRY(const client::SandboxView sandbox, client::GetSandbox(http, request.sandbox));
  request.sandbox = sandbox.id;
  if (request.direction == CopyDirection::kIn) return CopyIn(http, request, report).Run();
  return CopyOut(http, request, report).Run();
}

}  // namespace

int CopyCommand(const CommandLine& line, const Environment& environment) {
  CopyReport report;
  const Status copied = Copy(line, environment, report);
  if (!copied) PrintError(copied.error(), Format::kText);
  const int status = copied ? report.Status() : kFailed;
  // What is missing is said in any case.
  if (!line.Has(Option::kQuiet) || status == kNegativeAnswer || status == kFailed) {
    const std::vector<std::string> lines = report.Lines();
    for (std::size_t i = copied ? 0 : 1; i < lines.size(); ++i) PrintNotice(lines[i]);
  }
  return status;
}

}  // namespace caisson::cli
