#include "caisson/cli/commands.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/node.h"
#include "caisson/cli/reply_json.h"
#include "caisson/client/tools.h"
#include "caisson/tool/read_call.h"

namespace caisson::cli {
namespace {

// A step may take as long as a command may, and is silent meanwhile. When the node goes, the connection ends.
constexpr client::Timeouts kPatience{.connect = client::Timeouts{}.connect, .silence = std::chrono::hours(24) * 366};

Result<std::string> Call(const CommandLine& line, const std::string& input, const Environment& environment) {
  const std::string& name = line.operands[1];
  CAISSON_TRY(const client::Endpoint endpoint, ReachNode(line, environment));
  client::Http http(endpoint, kPatience);
  return client::CallTool(http, line.operands.front(), name, input);
}

}  // namespace

int ToolCommand(const CommandLine& line, const Environment& environment) {
  const Format format = line.Has(Option::kJson) ? Format::kJson : Format::kText;
  const std::string input = line.operands.size() > 2 ? line.operands[2] : "{}";
  // Before a daemon is started for it.
  if (const auto call = tool::ReadCall(line.operands[1], input); !call) {
    PrintError(call.error(), format);
    return kUsageError;
  }
  const Result<std::string> result = Call(line, input, environment);
  if (result) return PrintOrFail(ReplyLine(*result), kSuccess, kFailed);
  PrintError(result.error(), format);
  return kFailed;
}

}  // namespace caisson::cli
