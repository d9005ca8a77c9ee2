#include "caisson/base/nearest_name.h"
#include "caisson/base/utf8.h"
#include "caisson/cli/commands.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/node.h"
#include "caisson/cli/reply_json.h"
#include "caisson/client/tools.h"

namespace caisson::cli {
namespace {

// A step may take as long as a command may, and is silent meanwhile. When the node goes, the connection ends.
constexpr client::Timeouts kPatience{.connect = client::Timeouts{}.connect, .silence = std::chrono::hours(24) * 366};

Status CheckName(const std::string& name) {
  const std::vector<std::string> tools = {"run_command"};
  if (name == tools.front()) return {};
  const auto nearest = NearestName(name, tools);
  return Fail(Error(Code::kInvalidArgument, "there is no tool " + Quoted(name))
                  .Because("the tools are: run_command")
                  .Remedy(nearest ? "did you mean " + Quoted(*nearest) + "?" : "name one of them"));
}

Result<std::string> Call(const CommandLine& line, const Environment& environment) {
  const std::string& tool = line.operands[1];
  CAISSON_CHECK_OK(CheckName(tool));
  const std::string input = line.operands.size() > 2 ? line.operands[2] : "{}";
  CAISSON_TRY(const client::Endpoint endpoint, ReachNode(line, environment));
  client::Http http(endpoint, kPatience);
  return client::CallTool(http, line.operands.front(), tool, input);
}

}  // namespace

int ToolCommand(const CommandLine& line, const Environment& environment) {
  const Result<std::string> result = Call(line, environment);
  if (result) return PrintOrFail(ReplyLine(*result), kSuccess, kFailed);
  PrintError(result.error(), line.Has(Option::kJson) ? Format::kJson : Format::kText);
  return result.error().code() == Code::kInvalidArgument ? kUsageError : kFailed;
}

}  // namespace caisson::cli
