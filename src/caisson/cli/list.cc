#include <algorithm>
#include <set>

#include "caisson/cli/commands.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/node.h"
#include "caisson/cli/reply_json.h"
#include "caisson/cli/text_table.h"
#include "caisson/client/sandboxes.h"

namespace caisson::cli {
namespace {

constexpr const char* kDeleted = "deleted";

// Every sandbox once, by when it was made; those that were deleted only with --all.
Result<std::vector<client::SandboxView>> Sandboxes(const CommandLine& line, const Environment& environment) {
  CAISSON_TRY(const client::Endpoint endpoint, ReachNode(line, environment));
  client::Http http(endpoint);
  CAISSON_TRY(std::vector<client::SandboxView> all, client::ListSandboxes(http, std::nullopt));
  if (line.Has(Option::kAll)) {
    CAISSON_TRY(std::vector<client::SandboxView> deleted, client::ListSandboxes(http, kDeleted));
    all.insert(all.end(), std::make_move_iterator(deleted.begin()), std::make_move_iterator(deleted.end()));
  } else {
    std::erase_if(all, [](const client::SandboxView& view) { return view.state == kDeleted; });
  }
  std::set<std::string> seen;
  std::erase_if(all, [&](const client::SandboxView& view) { return !seen.insert(view.id).second; });
  std::stable_sort(all.begin(), all.end(), [](const client::SandboxView& a, const client::SandboxView& b) {
    return a.created_at < b.created_at;
  });
  return all;
}

std::string LabelsText(const client::SandboxView& view) {
  std::string text;
  for (const auto& [key, value] : view.labels) text += (text.empty() ? "" : ",") + key + "=" + value;
  return text;
}

}  // namespace

int ListCommand(const CommandLine& line, const Environment& environment) {
  const bool json = line.Has(Option::kJson);
  const Result<std::vector<client::SandboxView>> all = Sandboxes(line, environment);
  if (!all) {
    PrintError(all.error(), json ? Format::kJson : Format::kText);
    return kFailed;
  }
  std::string text;
  std::vector<std::vector<std::string>> rows;
  for (const client::SandboxView& view : *all) {
    if (json) text += ReplyLine(view.json);
    rows.push_back({view.id, view.name.value_or("-"), view.state, std::to_string(view.commands_running),
                    LocalTime(view.created_at), view.image, LabelsText(view)});
  }
  if (!json) text = TextTable({"ID", "NAME", "STATE", "RUNS", "CREATED", "IMAGE", "LABELS"}, rows);
  return PrintOrFail(text, kSuccess, kFailed);
}

}  // namespace caisson::cli
