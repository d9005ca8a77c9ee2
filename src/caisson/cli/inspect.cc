#include "caisson/base/utf8.h"
#include "caisson/cli/commands.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/node.h"
#include "caisson/cli/reply_json.h"
#include "caisson/cli/text_table.h"
#include "caisson/client/commands.h"
#include "caisson/client/sandboxes.h"

namespace caisson::cli {
namespace {

std::string StateText(const client::CommandView& command) {
  if (!command.outcome) return command.state;
  if (command.exit_code) return *command.outcome + " " + std::to_string(*command.exit_code);
  return command.signal ? *command.outcome + " " + *command.signal : *command.outcome;
}

std::string CommandText(const client::CommandView& command) {
  constexpr std::size_t kMostShown = 60;
  std::string text;
  for (const std::string& word : command.argv) text += (text.empty() ? "" : " ") + word;
  if (text.size() <= kMostShown) return text;
  return text.substr(0, WholeUtf8Length(text.substr(0, kMostShown))) + "...";
}

Result<std::string> Report(const CommandLine& line, const Environment& environment) {
  CAISSON_TRY(const client::Endpoint endpoint, ReachNode(line, environment));
  client::Http http(endpoint);
  CAISSON_TRY(const client::SandboxView view, client::GetSandbox(http, line.operands.front()));
  if (line.Has(Option::kJson)) return ReplyLine(view.json);
  std::string text;
  for (const auto& [key, value] : ReplyMembers(view.json)) {
    std::string name = Printable(key) + ":";
    if (name.size() < 20) name.resize(20, ' ');
    if (key == "sources") continue;
    const auto source = view.sources.find(key);
    text += name + " " + Printable(key.ends_with("_at") ? LocalTime(value) : value);
    text += (source == view.sources.end() ? "" : "  (" + Printable(source->second) + ")") + std::string("\n");
  }
  CAISSON_TRY(const std::vector<client::CommandView> commands, client::ListCommands(http, view.id));
  std::vector<std::vector<std::string>> rows;
  for (const client::CommandView& command : commands) {
    rows.push_back({command.id, StateText(command), LocalTime(command.started_at), CommandText(command)});
  }
  if (!rows.empty()) text += "\n" + TextTable({"COMMAND", "STATE", "STARTED", "WHAT"}, rows);
  return text;
}

}  // namespace

int InspectCommand(const CommandLine& line, const Environment& environment) {
  const Result<std::string> report = Report(line, environment);
  if (report) return PrintOrFail(*report, kSuccess, kFailed);
  PrintError(report.error(), line.Has(Option::kJson) ? Format::kJson : Format::kText);
  return kFailed;
}

}  // namespace caisson::cli
